import { held, type Outcome, settled, stalled, waiting } from "@quartermaster/runtime";

import type { Actor } from "./reasons.ts";
import type { SearchAction } from "./search-action.ts";
import type { ClusterStatus, Seen } from "./seen.ts";

/** Parts of the status that are decided once and kept until a lane says otherwise. */
export type StatusIntent = {
  readonly [Field in StatusField]?: ClusterStatus[Field] | undefined;
};

type StatusField =
  | "bootstrap"
  | "clusterUuid"
  | "operation"
  | "stalledDrain"
  | "autoscaling"
  | "repositories"
  | "clusterSettings";

export interface LaneVerdict {
  readonly actions: readonly SearchAction[];
  readonly outcome: Outcome;
  /** Intent that must be in the status before anything follows from it; undefined removes it. */
  readonly intent?: StatusIntent | undefined;
  /** Intent for the status although the writes failed (default: the earlier one). */
  readonly intentIfFailed?: StatusIntent | undefined;
  /** Who acts next, when it is not the operator. */
  readonly actor?: Actor | undefined;
}

/** One rule of a lane; the first that decides wins. */
export interface LaneRule {
  readonly name: string;
  readonly decide: (seen: Seen, now: Date) => LaneVerdict | undefined;
}

/** An independent concern: certificates, nodes, security content, … */
export interface SearchLane {
  readonly name: string;
  readonly rules: readonly LaneRule[];
}

export interface LaneDecision extends LaneVerdict {
  readonly lane: string;
  readonly rule: string;
}

/** The response of a lane where all is well. */
export const nothingToDo: LaneVerdict = { actions: [], outcome: settled() };

/** Decides a lane. A lane whose rules all pass has nothing to do. */
export function decideLane({ name, rules }: SearchLane, seen: Seen, now: Date): LaneDecision {
  for (const rule of rules) {
    const decision = rule.decide(seen, now);
    if (decision !== undefined) return { lane: name, rule: rule.name, ...decision };
  }
  return { lane: name, rule: "nothingToDo", ...nothingToDo };
}

/** Another client acts next; events bring us back, and a slow reconcile as a safety net. */
export function awaits(
  reason: string,
  message: string,
  { actor, actions = [], retryAfterMs = 30_000 }: WaitOptions,
): LaneVerdict {
  return { actions, outcome: waiting({ reason, message }, retryAfterMs), actor };
}

/** How a wait continues. */
export interface WaitOptions {
  readonly actor: Actor;
  readonly actions?: readonly SearchAction[] | undefined;
  readonly retryAfterMs?: number | undefined;
}

export function holds(reason: string, message: string): LaneVerdict {
  return { actions: [], outcome: held({ reason, message }), actor: "user" };
}

/** Only a user can help; with a delay we read again what no watch shows us. */
export function refuses(reason: string, message: string, retryAfterMs?: number): LaneVerdict {
  return { actions: [], outcome: stalled({ reason, message }, retryAfterMs), actor: "user" };
}
