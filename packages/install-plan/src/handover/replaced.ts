import { held, waiting } from "@quartermaster/runtime";

import { because, type Decision, type PlanRule } from "../model/decision.ts";
import { hasStarted } from "../model/plan-status.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/** A plan that is being replaced writes nothing: its lifecycle policy is off. */
export const replaced: readonly PlanRule[] = [
  { name: "superseded", decide: superseded },
  { name: "beingReplaced", decide: beingReplaced },
  { name: "paused", decide: paused },
];

function superseded(seen: Seen): Decision | undefined {
  const found = supersededBy(seen);
  if (found === undefined) return undefined;
  const { name, uid } = found;
  const why = because(reasons.superseded, describeSuperseded(found));
  return {
    phase: "Superseded",
    progress: { replacedBy: { name, uid, state: "Done" } },
    outcome: held(why),
  };
}

/** Who acts next is the successor; this status is what it waits for. */
function beingReplaced(seen: Seen): Decision | undefined {
  const { successor } = seen.replacement;
  if (successor === undefined) return undefined;
  const { name, uid } = successor;
  const why = because(reasons.replacing, `Plan ${name} is taking over; this plan no longer writes anything.`);
  return {
    phase: "Replacing",
    progress: { replacedBy: { name, uid, state: "InProgress" } },
    outcome: waiting(why, 10 * 60_000),
  };
}

function paused(seen: Seen): Decision | undefined {
  if (!seen.plan.spec.paused) return undefined;
  // Where it continues is in other fields; the preview and the states stay live.
  const why = because(reasons.paused, "The plan is paused; nothing is written.");
  return { phase: "Paused", outcome: held(why) };
}

/** The plan that has replaced a plan for good. */
export interface SupersededBy {
  readonly name: string;
  readonly uid: string;
  /** It no longer exists; the plan that it replaced does not come back. */
  readonly isDeleted: boolean;
}

/**
 * Who has replaced the plan; undefined while it is in force or only being replaced. A plan that never wrote anything is replaced as soon as
 * another takes over; a replaced plan stays replaced.
 */
export function supersededBy({
  plan,
  replacement,
}: Pick<Seen, "plan" | "replacement">): SupersededBy | undefined {
  const { successor } = replacement;
  const { phase, replacedBy } = plan.status ?? {};
  const isDone = successor !== undefined && (successor.isDone || !hasStarted(plan));
  if (!isDone && phase !== "Superseded") return undefined;
  const { name, uid } = successor ?? replacedBy ?? { name: "", uid: "" };
  return { name, uid, isDeleted: successor === undefined };
}

/** The same as a sentence. */
export function describeSuperseded({ name, isDeleted }: SupersededBy): string {
  return isDeleted
    ? `Plan ${name} replaced this plan and has been deleted since.`
    : `Plan ${name} replaced this plan.`;
}
