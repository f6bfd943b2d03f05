import { classify } from "../errors.ts";
import type { ObjectRef } from "../object/kube-object.ts";
import type { Log } from "../reconcile/log.ts";
import { pause } from "../system/pause.ts";
import type { System } from "../system/system.ts";

/**
 * Watches something that has no Kubernetes watch, such as a database, and wakes the objects it concerns. Runs while this replica
 * leads; the signal aborts when it no longer does. It should wake an object only when something changed.
 */
export type Signals = (wake: (ref: ObjectRef) => void, signal: AbortSignal) => Promise<void>;

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** Runs the signals until the signal aborts, and starts them again, later each time, when they fail or end. Never rejects. */
export async function runSignals(
  signals: Signals,
  {
    wake,
    system,
    log,
  }: { readonly wake: (ref: ObjectRef) => void; readonly system: System; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(longestRetryMs, 2 * retryMs)) {
    try {
      await signals(wake, signal);
      if (!signal.aborted) log.warn("signals ended and are started again", { retryMs });
    } catch (error) {
      if (!signal.aborted)
        log.error("signals failed and are started again", { retryMs, code: classify(error), err: error });
    }
    await pause(system, retryMs, signal);
  }
}
