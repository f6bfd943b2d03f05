import type { Dispatcher } from "undici";

import { ApiError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { answerError } from "./answer-error.ts";
import type { EarlyEnd } from "./deadline.ts";
import type { WireRequest } from "./exchange.ts";
import { failureError } from "./failure-error.ts";
import type { ApiRequest } from "./request.ts";
import type { ApiStream } from "./transport.ts";

/** What it takes to open a stream. */
export interface StreamCall {
  readonly dispatcher: Dispatcher;
  readonly wire: WireRequest;
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  readonly system: System;
}

const defaultTimeoutMs = 30_000;

/** An error answer longer than this is cut; its Status is short. */
const errorLimitBytes = 1024 * 1024;

/** Opens one stream; throws ApiError when the server refuses, does not answer in time, or the caller gives up. */
export async function openStream(call: StreamCall): Promise<ApiStream> {
  const guard = new StreamGuard(call);
  try {
    const response = await call.dispatcher.request({ ...call.wire, signal: guard.signal });
    if (response.statusCode >= 300) throw await refusal(call, response);
    guard.begin();
    return { status: response.statusCode, body: readChunks(response.body, call, guard) };
  } catch (error) {
    guard.release();
    throw error instanceof ApiError ? error : streamError(call, guard, error);
  }
}

/** Ends the stream on the caller's signal, and before the answer also on the time limit. */
class StreamGuard {
  readonly #call: StreamCall;
  readonly #controller = new AbortController();
  readonly #timer: Disposable;
  #ended: EarlyEnd | undefined;

  constructor(call: StreamCall) {
    this.#call = call;
    this.#timer = call.system.setTimer(call.request.timeoutMs ?? defaultTimeoutMs, () => {
      this.#end("timeout");
    });
    if (call.signal.aborted) this.#abort();
    else call.signal.addEventListener("abort", this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): EarlyEnd | undefined {
    return this.#ended;
  }

  /** The answer has begun: from now on only the caller ends it. */
  begin(): void {
    this.#timer[Symbol.dispose]();
  }

  release(): void {
    this.#timer[Symbol.dispose]();
    this.#call.signal.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => {
    this.#end("aborted");
  };

  #end(why: EarlyEnd): void {
    this.#ended ??= why;
    this.#controller.abort();
  }
}

async function* readChunks(
  body: AsyncIterable<unknown>,
  call: StreamCall,
  guard: StreamGuard,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    throw streamError(call, guard, error);
  } finally {
    guard.release();
  }
}

function streamError({ request, signal }: StreamCall, { ended }: StreamGuard, cause: unknown): ApiError {
  const reason: unknown = signal.reason;
  return failureError(request, {
    why: ended ?? "broken",
    sent: true,
    cause: ended === "aborted" ? reason : cause,
  });
}

async function refusal(
  { request, system }: StreamCall,
  response: Dispatcher.ResponseData,
): Promise<ApiError> {
  const text = await readText(response.body);
  const { "content-type": contentType, "retry-after": retryAfter } = response.headers;
  return answerError(
    request,
    {
      kind: "answer",
      status: response.statusCode,
      contentType: String(contentType),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      text,
      sizeBytes: text.length,
    },
    system.wallMs(),
  );
}

async function readText(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue;
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > errorLimitBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
