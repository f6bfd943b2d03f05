import { waiting } from "@quartermaster/runtime";

import { opensGate } from "../health/index.ts";
import { reasons } from "../reasons.ts";
import { whyOf } from "../report/plan-report.ts";
import type { Seen } from "../world/seen.ts";
import { removals } from "./removals.ts";
import { rollBack } from "./roll-back.ts";
import { answer, because, type PlanVerdict } from "./verdict.ts";

/** Stages that do not wait pass before their objects are ready; the previous objects stay until they are. */
export function successorUnready(seen: Seen, now: Date): PlanVerdict | undefined {
  const { plan, replacement, members } = seen;
  const isHandover = replacement.predecessors.some(({ state }) => state !== "Gone");
  if (!isHandover || plan.spec.replaces?.finishWhen === "Applied") return undefined;
  const closed = members.filter(({ state }) => !opensGate(state) && state !== "Drifted");
  if (closed.length === 0) return undefined;
  const words = closed.slice(0, 3).map((view) => whyOf(view).message);
  const failure = closed.find(({ state }) => state === "Failed");
  const retreat =
    failure === undefined
      ? undefined
      : rollBack(seen, now, because(reasons.resourceFailed, whyOf(failure).message));
  if (retreat !== undefined) return retreat;
  const why = because(
    reasons.finishing,
    `Waiting for all objects to be ready before the handover finishes. ${words.join(" ")}`,
  );
  const rechecks = closed.flatMap(({ health }) => health?.recheckAfterMs ?? []);
  return answer(seen, now, {
    phase: "Finishing",
    message: why.message,
    outcome: waiting(why, Math.max(1, Math.min(60_000, ...rechecks))),
  });
}

/** What the plans before this one left behind is deleted only now that the new objects are ready. */
export function leftoversRemain(seen: Seen, now: Date): PlanVerdict | undefined {
  const open = seen.leftovers.filter(({ live }) => live.metadata.deletionTimestamp === undefined);
  if (open.length === 0) return undefined;
  const why = because(reasons.finishing, "Deleting leftover objects of the replaced plans.");
  return answer(seen, now, {
    phase: "Finishing",
    message: why.message,
    actions: removals(open, seen),
    outcome: waiting(why, 1_000),
  });
}
