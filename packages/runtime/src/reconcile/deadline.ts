import type { System } from "../system/system.ts";

/** A pass took longer than it may; it is repeated later. */
export class PassDeadlineError extends Error {
  /** Classified as a timeout. */
  override readonly name = "TimeoutError";
}

/** Runs the work with a signal that aborts after the limit or with the outer one, and does not wait for it beyond that. */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  {
    system,
    limitMs,
    outer,
  }: { readonly system: System; readonly limitMs: number; readonly outer: AbortSignal },
): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    controller.abort(reason);
    reject(reason);
  };
  const stop = (): void => {
    end(outer.reason);
  };
  const timer = system.setTimer(limitMs, () => {
    end(new PassDeadlineError(`the pass took longer than ${limitMs} ms`));
  });
  outer.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    timer.cancel();
    outer.removeEventListener("abort", stop);
    // What ignores its signal is fenced off from now on.
    controller.abort(passIsOver);
  }
}

/** One for all passes: an error's stack is dear, and every pass ends this way. */
const passIsOver = new DOMException("the pass is over", "AbortError");
