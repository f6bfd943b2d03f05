import type { System } from "@quartermaster/runtime";
import type { Dispatcher } from "undici";

/** One request as it goes out. */
export interface WireRequest {
  readonly origin: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** How much and how long. */
export interface ExchangeLimits {
  readonly system: Pick<System, "setTimer">;
  readonly timeoutMs: number;
  readonly responseLimitBytes: number;
}

export type Exchange =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly contentType: string;
      readonly body: Uint8Array;
    }
  | {
      readonly kind: "failure";
      readonly why: "timeout" | "tooLarge" | "broken";
      /** Whether any byte of the request may have left. */
      readonly isSent: boolean;
      readonly cause: unknown;
    };

/** Sends one request and collects its response, following no redirect. Never rejects: a failure is a value. */
export async function exchange(
  dispatcher: Pick<Dispatcher, "dispatch">,
  request: WireRequest,
  limits: ExchangeLimits,
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const collector = new Collector(limits.responseLimitBytes, resolve);
  const timer = limits.system.setTimer(limits.timeoutMs, () => {
    collector.fail("timeout", undefined);
  });
  try {
    const { headers, body = null, ...rest } = request;
    dispatcher.dispatch({ ...rest, headers: { ...headers }, body }, collector);
    return await promise;
  } catch (cause) {
    return { kind: "failure", why: "broken", isSent: false, cause };
  } finally {
    timer.cancel();
  }
}

/** Takes what undici reports about one request. */
class Collector implements Dispatcher.DispatchHandler {
  readonly #limitBytes: number;
  readonly #settle: (end: Exchange) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #head: { readonly status: number; readonly contentType: string } | undefined;
  #sizeBytes = 0;
  #isSettled = false;

  constructor(limitBytes: number, settle: (end: Exchange) => void) {
    this.#limitBytes = limitBytes;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Its time ended while it waited for a connection: it must not leave any more.
    if (this.#isSettled) controller.abort(new Error("call is over"));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    const contentType = headers["content-type"];
    this.#head = { status, contentType: typeof contentType === "string" ? contentType : "" };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > this.#limitBytes) this.fail("tooLarge", undefined);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#isSettled || this.#head === undefined) return;
    this.#isSettled = true;
    this.#settle({ kind: "answer", ...this.#head, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail("broken", error);
  }

  fail(why: "timeout" | "tooLarge" | "broken", cause: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#chunks.length = 0;
    this.#settle({ kind: "failure", why, isSent: this.#controller !== undefined, cause });
    this.#controller?.abort(new Error("call is over"));
  }
}
