import { stalled, waiting, type Why } from "@quartermaster/runtime";

import { removals } from "../inventory/protection.ts";
import { atOnceMs, because, type Decision } from "../model/decision.ts";
import { isRolledBack } from "../model/plan-status.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/**
 * The plan has failed and is configured to hand back what it took over. It says so in its status: its predecessors see that, and take
 * their objects over again. Undefined where the plan holds on.
 */
export function rollBack(seen: Seen, failure: Why): Decision | undefined {
  const { plan, replacement } = seen;
  const isWanted = plan.spec.replaces?.onFailure === "Rollback";
  const isPossible = replacement.predecessors.some(
    ({ plan: before, state }) => before !== undefined && state === "Releasing",
  );
  if (!isWanted || !isPossible) return undefined;
  const why = because(reasons.rolledBack, `Rolling back to the replaced plans: ${failure.message}`);
  return {
    phase: "Failed",
    progress: {
      replaces: replacement.predecessors.map(({ name, uid, state }) => ({
        name,
        uid,
        state: state === "Gone" ? ("Gone" as const) : ("Pending" as const),
      })),
    },
    outcome: waiting(why, atOnceMs),
  };
}

/** Objects of this plan alone are deleted; the rest is its predecessors' again. A new plan has to be made for another try. */
export function rolledBack(seen: Seen): Decision | undefined {
  const { plan, leftovers } = seen;
  if (!isRolledBack(plan)) return undefined;
  const actions = removals(leftovers.filter(({ live }) => live.metadata.deletionTimestamp === undefined));
  const message = plan.status?.message ?? "";
  const why = because(reasons.rolledBack, message);
  const failure = seen.writeFailures.find(({ notBeforeMs }) => notBeforeMs > seen.nowMs);
  if (failure !== undefined) {
    const refused = because(failure.reason, failure.message);
    const outcome = stalled(refused, failure.notBeforeMs - seen.nowMs);
    return { phase: "Failed", message, outcome };
  }
  const outcome = actions.length > 0 ? waiting(why, 500) : stalled(why);
  return { phase: "Failed", message, actions, outcome };
}
