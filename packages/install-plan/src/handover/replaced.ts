import { held, waiting } from "@quartermaster/runtime";

import { reasons } from "../reasons.ts";
import { answer, because, type PlanRule, type PlanVerdict } from "../report/plan-verdict.ts";
import type { Seen } from "../seen.ts";
import { describeSuperseded, supersededBy } from "./superseded-by.ts";

/** A plan that is being replaced writes nothing: its lifecycle policy is off. */
export const replaced: readonly PlanRule[] = [
  { name: "superseded", answer: superseded },
  { name: "beingReplaced", answer: beingReplaced },
  { name: "paused", answer: paused },
];

function superseded(seen: Seen, now: Date): PlanVerdict | undefined {
  const found = supersededBy(seen);
  if (found === undefined) return undefined;
  const { name, uid } = found;
  const why = because(reasons.superseded, describeSuperseded(found));
  return answer(seen, now, {
    phase: "Superseded",
    message: why.message,
    progress: { replacedBy: { name, uid, state: "Done" } },
    outcome: held(why),
  });
}

/** Who acts next is the successor; this status is what it waits for. */
function beingReplaced(seen: Seen, now: Date): PlanVerdict | undefined {
  const { successor } = seen.replacement;
  if (successor === undefined) return undefined;
  const { name, uid } = successor;
  const why = because(reasons.replacing, `Plan ${name} is taking over; this plan no longer writes anything.`);
  return answer(seen, now, {
    phase: "Replacing",
    message: why.message,
    progress: { replacedBy: { name, uid, state: "InProgress" } },
    outcome: waiting(why, 10 * 60_000),
  });
}

function paused(seen: Seen, now: Date): PlanVerdict | undefined {
  if (!seen.plan.spec.paused) return undefined;
  // Where it goes on is in other fields; the preview and the states stay live.
  const why = because(reasons.paused, "The plan is paused; nothing is written.");
  return answer(seen, now, { phase: "Paused", message: why.message, outcome: held(why) });
}
