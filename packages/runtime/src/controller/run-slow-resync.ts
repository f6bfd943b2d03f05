import type { ObjectKey } from "../object/kube-object.ts";
import type { System } from "../system/system.ts";

export interface SlowResyncOptions {
  readonly system: System;
  /** Interval between two full rounds, give or take a tenth. */
  readonly everyMs: number;
  /** The objects there are, from the store: no request to the server. */
  readonly keys: () => readonly ObjectKey[];
  /** Called with each key once per round; meant to lead to the queue with low priority. */
  readonly enqueue: (key: ObjectKey) => void;
}

/** Ten hours, as in controller-runtime. */
export const defaultResyncMs = 36_000_000;

/** A round is spread over this share of the interval, in so many portions: no hour of the day is busier for it. */
const spreadShare = 0.1;
const portions = 100;

/**
 * Reconciles every object now and then although no event announced a change: the last safety net, for changes outside of
 * the cluster and for our own bugs. Runs until the signal aborts; never rejects.
 */
export async function runSlowResync(options: SlowResyncOptions, signal: AbortSignal): Promise<void> {
  const { system, everyMs } = options;
  try {
    while (!signal.aborted) {
      await system.sleep(everyMs * (0.9 + 0.2 * system.random()) - everyMs * spreadShare, signal);
      await observeAll(options, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function observeAll(
  { system, everyMs, keys, enqueue }: SlowResyncOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const portion of inPortions(keys(), portions)) {
    for (const key of portion) enqueue(key);
    await system.sleep((everyMs * spreadShare) / portions, signal);
  }
}

/** The keys in at most so many parts of about equal size; together they are all keys, in their order. */
export function inPortions<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  const bounds = Array.from({ length: count + 1 }, (_, at) => Math.round((at * items.length) / count));
  return bounds.slice(1).map((end, at) => items.slice(bounds[at], end));
}
