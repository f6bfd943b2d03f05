import { classify } from "../errors.ts";
import { unreachable } from "../unreachable.ts";
import { judgeFailure } from "./judge-failure.ts";
import type { Log } from "./log.ts";
import type { CleanUpEnd, Lane, Outcome } from "./outcome.ts";

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
  const kept = ends.flatMap(({ kept: status }) => (status === undefined ? [] : [{ outcome: quiet, status }]));
  const merged = mergeLanes([base, ...ends.flatMap(({ end }) => end ?? []), ...kept]);
  const failure = ends.find(({ retry }) => retry !== undefined)?.retry;
  const isQuiet = ends.some(({ end }) => end === undefined);
  if (isQuiet && merged.outcome.kind === "settled") throw failure?.error;
  return failure === undefined ? merged : { ...merged, failure: failure.error };
}

const quiet: Outcome = { kind: "settled" };

interface Performed {
  /** Undefined when the lane failed and users need not know. */
  readonly end?: LaneEnd | undefined;
  /** Status of a lane that failed. */
  readonly kept?: object | undefined;
  readonly retry?: { readonly error: unknown } | undefined;
}

async function performLane<Action>(
  { name, actions, outcome, status, statusIfFailed, conditions }: Lane<Action>,
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
      end: shown === undefined ? undefined : { outcome: shown },
      kept: statusIfFailed,
      ...(next === "stay" ? {} : { retry: { error } }),
    };
  }
  return {
    end: {
      outcome,
      status,
      conditions,
    },
  };
}

/** How a lane ended: as decided, or with the outcome that its failure was judged to be. */
export type LaneEnd = Pick<Lane<never>, "outcome" | "status" | "conditions">;

/**
 * One outcome and one status for an object of several lanes. The most serious outcome counts, the first lane first among equals:
 * stalled, then waiting, then held, then settled. The next reconcile is due when the first lane requests one. Fields of the
 * status and conditions are joined; two lanes that write the same field are a mistake of the domain and throw.
 */
export function mergeLanes(lanes: readonly LaneEnd[]): CleanUpEnd {
  const serious = lanes.toSorted((one, other) => rank(other.outcome) - rank(one.outcome));
  const outcome = soonest(serious[0]?.outcome ?? { kind: "settled" }, dueInMs(lanes));
  const written = lanes.filter(({ status }) => status !== undefined);
  const conditions = lanes.flatMap((lane) => lane.conditions ?? []);
  assertDistinct([
    ...written.flatMap(({ status = {} }) => Object.keys(status)),
    ...conditions.map(({ type }) => `condition ${type}`),
  ]);
  return {
    outcome,
    ...(written.length === 0
      ? {}
      : { status: written.reduce((all, { status }) => ({ ...all, ...status }), {}) }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function rank({ kind }: Outcome): number {
  return ["settled", "held", "waiting", "stalled"].indexOf(kind);
}

/** When the first of the lanes is due again; undefined when none is. */
function dueInMs(lanes: readonly LaneEnd[]): number | undefined {
  const delays = lanes.flatMap(({ outcome }) => delayOf(outcome) ?? []);
  return delays.length === 0 ? undefined : Math.min(...delays);
}

function delayOf(outcome: Outcome): number | undefined {
  switch (outcome.kind) {
    case "settled":
    case "held":
      return outcome.recheckAfterMs;
    case "waiting":
    case "stalled":
      return outcome.retryAfterMs;
    default:
      return unreachable(outcome);
  }
}

function soonest(outcome: Outcome, delayMs: number | undefined): Outcome {
  if (delayMs === undefined) return outcome;
  switch (outcome.kind) {
    case "settled":
      return { ...outcome, recheckAfterMs: delayMs };
    case "waiting":
    case "stalled":
      return { ...outcome, retryAfterMs: delayMs };
    case "held":
      // Another lane works: the object as a whole is not left alone.
      return { kind: "waiting", why: outcome.why, retryAfterMs: delayMs };
    default:
      return unreachable(outcome);
  }
}

function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new TypeError(`two lanes write ${twice}`);
}
