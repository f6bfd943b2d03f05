import { waiting } from "@quartermaster/runtime";

import { describeIdentity, identityOf } from "../identity.ts";
import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import type { Leftover, Seen } from "../world/seen.ts";
import { answer, because, type PlanVerdict } from "./verdict.ts";

/** What the plans before this one left behind goes only now that the new objects stand. */
export function leftoversRemain(seen: Seen, now: Date): PlanVerdict | undefined {
  const open = seen.leftovers.filter(({ live }) => live.metadata.deletionTimestamp === undefined);
  if (open.length === 0) return undefined;
  const why = because(reasons.finishing, "Removes what the plans before this one had and it does not.");
  return answer(seen, now, {
    phase: "Finishing",
    message: why.message,
    actions: removals(open, seen),
    outcome: waiting(why, 1_000),
  });
}

/** What becomes of leftovers: deleted, or only let go where their plan says so or others have something in them. */
export function removals(open: readonly Leftover[], { plan }: Seen): readonly PlanAction[] {
  const kept = open.flatMap(({ live, protectedBy }) =>
    protectedBy === undefined ? [] : [`${describeIdentity(identityOf(live))} stays: ${protectedBy}.`],
  );
  return [...protectedWarning(plan, kept), ...open.map((leftover) => removal(leftover, plan))];
}

/** What is not taken away because others have something in it is told once. */
export function protectedWarning(plan: Seen["plan"], warnings: readonly string[]): readonly PlanAction[] {
  return warnings.length === 0 ? [] : [{ kind: "warn", plan, reason: "Protected", warnings }];
}

function removal({ kind, live, cleanup, protectedBy }: Leftover, plan: Seen["plan"]): PlanAction {
  const target = { kind, live };
  return cleanup === "Orphan" || protectedBy !== undefined
    ? { kind: "release", plan, target }
    : { kind: "delete", plan, target, propagation: "Background" };
}
