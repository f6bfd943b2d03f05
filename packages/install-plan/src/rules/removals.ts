import { staysBecause } from "../cleanup/protection.ts";
import { identityOf } from "../identity.ts";
import type { PlanAction } from "../plan-action.ts";
import type { Leftover, Seen } from "../world/seen.ts";

/** What becomes of leftovers: deleted, or only let go where their plan says so or others have something in them. */
export function removals(open: readonly Leftover[], { plan }: Seen): readonly PlanAction[] {
  const kept = open.flatMap(({ live, protectedBy }) =>
    protectedBy === undefined ? [] : [staysBecause(identityOf(live), protectedBy)],
  );
  return [...protectedWarning(plan, kept), ...open.map((leftover) => removal(leftover, plan))];
}

/** What is not taken away because others have something in it is reported once. */
export function protectedWarning(plan: Seen["plan"], warnings: readonly string[]): readonly PlanAction[] {
  return warnings.length === 0 ? [] : [{ kind: "warn", plan, reason: "Protected", warnings }];
}

function removal({ kind, live, cleanup, protectedBy }: Leftover, plan: Seen["plan"]): PlanAction {
  const target = { kind, live };
  return cleanup === "Orphan" || protectedBy !== undefined
    ? { kind: "release", plan, target }
    : { kind: "delete", plan, target, propagation: "Background" };
}
