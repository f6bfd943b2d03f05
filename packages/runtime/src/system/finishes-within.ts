import type { System } from "./system.ts";

/** A limit in time. */
export interface TimeLimit {
  readonly system: Pick<System, "setTimer">;
  readonly limitMs: number;
}

/**
 * The result of the work, or of `late` once the limit is over: a value, an error that it throws, or a promise. The work itself
 * continues. For reconciles see `Deadlines`, for calls the transport's `Deadline`.
 */
export async function raceLimit<T, L>(
  work: Promise<T>,
  { system, limitMs }: TimeLimit,
  late: () => L | Promise<L>,
): Promise<T | L> {
  const { promise: isLate, resolve } = Promise.withResolvers<undefined>();
  const timer = system.setTimer(limitMs, () => {
    resolve(undefined);
  });
  try {
    return await Promise.race([work, isLate.then(late)]);
  } finally {
    timer.cancel();
  }
}

/** Whether the work is over within the limit; it continues otherwise, and no one waits for it. Rejects when the work does. */
export async function finishesWithin(
  work: Promise<unknown>,
  system: System,
  limitMs: number,
): Promise<boolean> {
  return await raceLimit(
    work.then(() => true),
    { system, limitMs },
    () => false,
  );
}
