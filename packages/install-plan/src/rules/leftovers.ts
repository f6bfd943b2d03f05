import { waiting } from "@quartermaster/runtime";

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
    actions: open.map((leftover) => removal(leftover, seen)),
    outcome: waiting(why, 1_000),
  });
}

function removal({ kind, live, cleanup }: Leftover, { plan }: Seen): PlanAction {
  const target = { kind, live };
  return cleanup === "Orphan"
    ? { kind: "release", plan, target }
    : { kind: "delete", plan, target, propagation: "Background" };
}
