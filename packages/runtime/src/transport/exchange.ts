import type { Dispatcher } from "undici";

import { ApiError } from "../errors.ts";
import { type ApiRequest, describeRequest } from "./api-request.ts";
import type { Deadline, EarlyEnd } from "./deadline.ts";
import { parseJson } from "./parse-json.ts";
import { freeSoon, TextCutter } from "./text-cutter.ts";

export type Exchange = HttpResponse | Failure;

/** A whole response, whatever its status. */
export interface HttpResponse {
  readonly kind: "answer";
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly text: string;
  readonly sizeBytes: number;
}

/** No whole response came. */
export interface Failure {
  readonly kind: "failure";
  /** `bodyTooLarge`: the response exceeded our limit. `broken`: the network or the peer. */
  readonly why: EarlyEnd | "bodyTooLarge" | "broken";
  /** Whether any byte of the request may have left. */
  readonly sent: boolean;
  readonly cause: unknown;
}

/** The request as it goes out. */
export interface WireRequest extends Dispatcher.DispatchOptions {
  readonly origin: string;
}

/** Larger responses are aborted; a page of 500 usual objects has a tenth of it. */
export const responseLimitBytes = 64 * 1024 * 1024;

/** How a response is taken. */
export interface ReadOptions extends Pick<ApiRequest, "textLimitBytes"> {
  readonly deadline: Deadline;
}

/** Sends one request and collects the response. Never rejects: a failure is a value. */
export async function exchange(
  dispatcher: Pick<Dispatcher, "dispatch">,
  request: WireRequest,
  taking: ReadOptions,
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const collector = new Collector(taking, resolve);
  const { deadline } = taking;
  deadline.onEnd(() => {
    collector.end();
  });
  try {
    if (deadline.ended === undefined) dispatcher.dispatch(request, collector);
    return await promise;
  } catch (cause) {
    return { kind: "failure", why: "broken", sent: false, cause };
  } finally {
    deadline.onEnd(undefined);
  }
}

/** Takes what undici reports about one request. */
class Collector implements Dispatcher.DispatchHandler {
  readonly #deadline: Deadline;
  readonly #settle: (outcome: Exchange) => void;
  readonly #chunks: Buffer[] = [];
  readonly #textLimitBytes: number | undefined;
  #cutter: TextCutter | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Pick<HttpResponse, "status" | "contentType" | "retryAfter"> | undefined;
  #sizeBytes = 0;
  #settled = false;

  constructor({ deadline, textLimitBytes }: ReadOptions, settle: (outcome: Exchange) => void) {
    this.#deadline = deadline;
    this.#textLimitBytes = textLimitBytes;
    this.#settle = settle;
  }

  /** The call's time is over; a request that still waits for a connection is dropped when its turn comes. */
  end(): void {
    this.#fail(this.#deadline.ended ?? "aborted", this.#deadline.abortReason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // After a blocked event loop a queued request is taken up before its deadline's timer fires: it must not leave any more.
    if (this.#deadline.remainingMs <= 0) this.#fail("timeout", undefined);
    if (this.#settled) controller.abort(new Error("call is over"));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    const contentType = firstOf(headers["content-type"]) ?? "";
    this.#head = { status, contentType, retryAfter: firstOf(headers["retry-after"]) };
    if (this.#textLimitBytes !== undefined && status < 300)
      this.#cutter = new TextCutter(this.#textLimitBytes);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > responseLimitBytes) this.#fail("bodyTooLarge", undefined);
    else if (this.#cutter === undefined) this.#chunks.push(chunk);
    else {
      this.#chunks.push(this.#cutter.cut(chunk));
      freeSoon(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.#settled || this.#head === undefined) return;
    this.#settled = true;
    if (this.#cutter !== undefined) this.#chunks.push(this.#cutter.end());
    const [first, ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks);
    const text = body?.toString("utf8") ?? "";
    this.#settle({ kind: "answer", ...this.#head, text, sizeBytes: this.#sizeBytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail("broken", error);
  }

  #fail(why: Failure["why"], cause: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks.length = 0;
    this.#settle({ kind: "failure", why, sent: this.#controller !== undefined, cause });
    this.#controller?.abort(new Error("call is over"));
  }
}

function firstOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}

/** The value of a 2xx response: JSON, or plain text as a string. Anything else did not come from an API server. */
export function readResponse(
  request: ApiRequest,
  response: HttpResponse,
): { readonly value: unknown } | ApiError {
  if (response.contentType.startsWith("text/plain")) return { value: response.text };
  if (response.text === "") return { value: undefined };
  if (!isJson(response.contentType)) return unexpected(request, response, "UnexpectedContentType");
  try {
    return { value: parseJson(response.text) };
  } catch (error) {
    // Not attached as cause: it quotes the text, and that may be a Secret.
    if (error instanceof SyntaxError) return unexpected(request, response, "BrokenJson");
    throw error;
  }
}

function isJson(contentType: string): boolean {
  return contentType.startsWith("application/json") || contentType.includes("+json");
}

function unexpected(request: ApiRequest, { status }: HttpResponse, reason: string): ApiError {
  return new ApiError(`${describeRequest(request)}: ${status} ${reason}`, {
    class: "transient",
    status,
    reason,
    mayHaveActed: true,
  });
}
