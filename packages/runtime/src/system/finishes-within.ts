import type { System } from "./system.ts";

/** A limit in time. */
export interface TimeLimit {
  readonly system: Pick<System, "setTimer">;
  readonly limitMs: number;
}

/**
 * What the work gives, or what `late` gives once the limit is over: a value, an error that it throws, or a promise. The work itself
 * goes on. For reconciles see `Deadlines`, for calls the transport's `Deadline`.
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

/** Whether the work is over within the limit; it goes on otherwise, and nobody waits for it. Rejects when the work does. */
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
