import type { Dispatcher } from "undici";

import { ApiError } from "../errors.ts";
import type { System } from "../system/system.ts";
import { answerError } from "./answer-error.ts";
import type { EarlyEnd } from "./deadline.ts";
import type { WireRequest } from "./exchange.ts";
import { failureError } from "./failure-error.ts";
import type { ApiRequest } from "./request.ts";
import { type StreamHead, StreamReceiver } from "./stream-receiver.ts";
import type { ApiStream } from "./transport.ts";

/** What it takes to open a stream. */
export interface StreamCall {
  readonly dispatcher: Pick<Dispatcher, "dispatch">;
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
  const receiver = new StreamReceiver();
  const guard = new StreamGuard(call, receiver);
  try {
    if (guard.ended === undefined) call.dispatcher.dispatch(call.wire, receiver);
    const head = await receiver.head;
    if (head.status >= 300) throw await refusal(call, head, receiver);
    guard.begin();
    return { status: head.status, body: new StreamBody(receiver, call, guard) };
  } catch (error) {
    guard.release();
    throw error instanceof ApiError ? error : streamError(call, guard, error);
  }
}

/** Ends the stream on the caller's signal, and before the answer also on the time limit. */
class StreamGuard {
  readonly #call: StreamCall;
  readonly #receiver: StreamReceiver;
  readonly #timer: Disposable;
  #ended: EarlyEnd | undefined;

  constructor(call: StreamCall, receiver: StreamReceiver) {
    this.#call = call;
    this.#receiver = receiver;
    this.#timer = call.system.setTimer(call.request.timeoutMs ?? defaultTimeoutMs, () => {
      this.#end("timeout");
    });
    if (call.signal.aborted) this.#abort();
    else call.signal.addEventListener("abort", this.#abort);
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
    this.#receiver.abort();
  }
}

/** What the stream brings, with its failures as the caller knows them. A class: a generator would be one more wait per chunk. */
class StreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #receiver: StreamReceiver;
  readonly #call: StreamCall;
  readonly #guard: StreamGuard;

  constructor(receiver: StreamReceiver, call: StreamCall, guard: StreamGuard) {
    this.#receiver = receiver;
    this.#call = call;
    this.#guard = guard;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const read = await this.#receiver.next();
      if (read.done === true) this.#guard.release();
      return read;
    } catch (error) {
      this.#guard.release();
      throw streamError(this.#call, this.#guard, error);
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#guard.release();
    return await this.#receiver.return();
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
  head: StreamHead,
  body: AsyncIterable<Uint8Array>,
): Promise<ApiError> {
  const text = await readText(body);
  return answerError(request, { kind: "answer", ...head, text, sizeBytes: text.length }, system.wallMs());
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > errorLimitBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
