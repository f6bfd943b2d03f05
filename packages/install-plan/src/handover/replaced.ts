import { held, settled, waiting } from "@quartermaster/runtime";

import { hasStarted, isInstalled } from "../plan-status.ts";
import { answer, because, type PlanRule, type PlanVerdict } from "../plan-verdict.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/** A plan that is being replaced writes nothing: its lifecycle policy is off. */
export const replaced: readonly PlanRule[] = [
  { name: "superseded", answer: superseded },
  { name: "beingReplaced", answer: beingReplaced },
  { name: "paused", answer: paused },
];

function superseded(seen: Seen, now: Date): PlanVerdict | undefined {
  const { successor } = seen.replacement;
  const isSuperseded = seen.plan.status?.phase === "Superseded";
  if (!isSuperseded && (successor === undefined || (!successor.isDone && hasStarted(seen.plan))))
    return undefined;
  const { name, uid } = successor ?? seen.plan.status?.replacedBy ?? { name: "", uid: "" };
  const message = `Plan ${name} replaced this plan.`;
  return answer(seen, now, {
    phase: "Superseded",
    message,
    progress: { replacedBy: { name, uid, state: "Done" } },
    outcome: settled(),
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
  const { plan } = seen;
  if (!plan.spec.paused) return undefined;
  const why = because(reasons.paused, "The plan is paused; nothing is written.");
  // The phase is where it would go on; the preview and the states stay live.
  return answer(seen, now, { phase: phaseOf(seen), message: why.message, outcome: held(why) });
}

const phases = [
  "Validating",
  "AwaitingApproval",
  "Applying",
  "RunningJobs",
  "Finishing",
  "Installed",
  "Failed",
  "Invalid",
  "Forbidden",
] as const;

/** The phase that it is in; of a plan that comes back from being replaced, the one that it was in before. */
function phaseOf({ plan }: Seen): (typeof phases)[number] | "Resolving" {
  const known = phases.find((phase) => phase === plan.status?.phase);
  if (known !== undefined) return known;
  if (isInstalled(plan)) return "Installed";
  return hasStarted(plan) ? "Applying" : "Resolving";
}
