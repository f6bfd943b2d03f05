import type { Dispatcher } from "undici";

import { ApiError } from "../errors.ts";
import type { System } from "../system/system.ts";
import type { ApiRequest } from "./api-request.ts";
import type { EarlyEnd } from "./deadline.ts";
import type { WireRequest } from "./exchange.ts";
import { failureError } from "./failure-error.ts";
import { responseError } from "./response-error.ts";
import { freeSoon, TextCutter } from "./text-cutter.ts";
import type { ApiStream } from "./transport.ts";

export interface StreamCall {
  readonly dispatcher: Pick<Dispatcher, "dispatch">;
  readonly wire: WireRequest;
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  readonly system: System;
}

const defaultTimeoutMs = 30_000;

/** An error response longer than this is cut; its Status is short. */
const errorLimitBytes = 1024 * 1024;

/** Opens one stream; throws ApiError when the server refuses, does not respond in time, or the caller gives up. */
export async function openStream(call: StreamCall): Promise<ApiStream> {
  const receiver = new StreamReceiver(call.request.textLimitBytes);
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

/** Ends the stream on the caller's signal, and before the response also on the time limit. */
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

  /** The response has begun: from now on only the caller ends it. */
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

/** The content of the stream, with its failures as the caller knows them. A class: a generator would be one more wait per chunk. */
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
  return responseError(request, { kind: "answer", ...head, text, sizeBytes: text.length }, system.wallMs());
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

/** How the response to a stream began. */
export interface StreamHead {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
}

/** More than this is not taken from the connection before the reader has caught up: the server is held back instead. */
const highWaterBytes = 256 * 1024;

/**
 * Takes a stream from undici's dispatcher without a Node stream in between: a watch brings each event in a chunk of its own,
 * and a Node stream would cost as much for each of them as decoding it. Chunks that came together are read together.
 */
class StreamReceiver implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  readonly #head = Promise.withResolvers<StreamHead>();
  readonly #textLimitBytes: number | undefined;
  #cutter: TextCutter | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #pendingBytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(textLimitBytes: number | undefined) {
    this.#textLimitBytes = textLimitBytes;
  }

  /** Resolves with the head of the response; rejects when there is none. */
  get head(): Promise<StreamHead> {
    return this.#head.promise;
  }

  /** Breaks the connection off; what was received and not read is dropped. */
  abort(): void {
    const error = new Error("the stream is over");
    this.#chunks = [];
    this.#finish({ error });
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end !== undefined) controller.abort(new Error("the stream is over"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    const { "content-type": contentType, "retry-after": retryAfter } = headers;
    if (this.#textLimitBytes !== undefined && status < 300)
      this.#cutter = new TextCutter(this.#textLimitBytes);
    this.#head.resolve({
      status,
      contentType: String(contentType),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, received: Uint8Array): void {
    if (this.#end !== undefined) return;
    const chunk = this.#cutter?.cut(received) ?? received;
    this.#chunks.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes > highWaterBytes) controller.pause();
    // What is behind the place of a pause goes back to the socket, in the same memory.
    else if (this.#cutter !== undefined) freeSoon(received);
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Everything that has come since; waits for more when that is nothing. */
  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#chunks.length === 0 && this.#end === undefined) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      this.#wake = () => {
        resolve(undefined);
      };
      await promise;
      this.#wake = undefined;
    }
    if (this.#chunks.length > 0) return { value: this.#take(), done: false };
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return { value: undefined, done: true };
  }

  /** The reader has had enough. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#end === undefined) this.abort();
    return await Promise.resolve({ value: undefined, done: true });
  }

  #take(): Uint8Array {
    const [first = new Uint8Array(), ...more] = this.#chunks;
    const all = more.length === 0 ? first : Buffer.concat(this.#chunks, this.#pendingBytes);
    this.#chunks = [];
    this.#pendingBytes = 0;
    if (this.#controller?.paused === true) this.#controller.resume();
    return all;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#head.reject(end.error ?? new Error("a response without a head"));
    this.#wake?.();
  }
}
