import type { Dispatcher } from "undici";

/** How the answer to a stream began. */
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
export class StreamReceiver implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  readonly #head = Promise.withResolvers<StreamHead>();
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #pendingBytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Resolves with the head of the answer; rejects when there is none. */
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
    this.#head.resolve({
      status,
      contentType: String(contentType),
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes > highWaterBytes) controller.pause();
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
    this.#head.reject(end.error ?? new Error("an answer without a head"));
    this.#wake?.();
  }
}
