import { classify } from "../errors.ts";
import { judgeFailure } from "./judge-failure.ts";
import { type LaneEnd, mergeLanes } from "./lanes.ts";
import type { Log } from "./log.ts";
import type { CleanUpEnd, Lane } from "./outcome.ts";

/** How an object of several lanes ended. */
export interface LanesEnd extends CleanUpEnd {
  /** A lane failed in a way that is retried: the status holds, and the object comes back after a growing delay. */
  readonly failure?: unknown;
}

/**
 * Performs lanes side by side. A lane that fails in a way users should know ends with that outcome. One that fails quietly (a
 * conflict, a short outage) reports nothing, and if no other lane has anything to report either, its failure is thrown: an object
 * does not lose its Ready condition because a write has to be repeated.
 */
export async function performLanes<Action>(
  base: LaneEnd,
  lanes: readonly Lane<Action>[],
  { log, perform }: { readonly log: Log; readonly perform: (actions: readonly Action[]) => Promise<void> },
): Promise<LanesEnd> {
  const ends = await Promise.all(lanes.map(async (lane) => await performLane(lane, { log, perform })));
  const merged = mergeLanes([base, ...ends.flatMap(({ end }) => end ?? [])]);
  const failure = ends.find(({ retry }) => retry !== undefined)?.retry;
  const isQuiet = ends.some(({ end }) => end === undefined);
  if (isQuiet && merged.outcome.kind === "settled") throw failure?.error;
  return failure === undefined ? merged : { ...merged, failure: failure.error };
}

interface Performed {
  /** Undefined when the lane failed and users need not know. */
  readonly end?: LaneEnd;
  readonly retry?: { readonly error: unknown };
}

async function performLane<Action>(
  { name, actions, outcome, status, conditions }: Lane<Action>,
  { log, perform }: { readonly log: Log; readonly perform: (actions: readonly Action[]) => Promise<void> },
): Promise<Performed> {
  try {
    await perform(actions);
  } catch (error) {
    const { next, shown, isBug } = judgeFailure(error);
    const fields = { lane: name, code: classify(error), err: error };
    if (isBug) log.error("lane failed by a fault of ours", fields);
    else log.debug("lane failed", fields);
    return {
      ...(shown === undefined ? {} : { end: { outcome: shown } }),
      ...(next === "stay" ? {} : { retry: { error } }),
    };
  }
  return {
    end: {
      outcome,
      ...(status === undefined ? {} : { status }),
      ...(conditions === undefined ? {} : { conditions }),
    },
  };
}
