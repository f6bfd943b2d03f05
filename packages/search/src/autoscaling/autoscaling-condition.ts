import type { ConditionUpdate } from "@quartermaster/runtime";

import type { LaneDecision } from "../lane.ts";
import { autoscalingLane } from "./autoscaling-lane.ts";
import type { LimitReason } from "./recommend.ts";

/** Reasons for which the load of a pool is not known, the worst first, and what to tell of such pools. */
const blindness: readonly (readonly [LimitReason, (pools: string) => string])[] = [
  [
    "SamplesMissing",
    (pools) => `The engine does not tell the load of ${pools}: no node is added or removed.`,
  ],
  [
    "PrometheusSilent",
    (pools) =>
      `The cluster's own Prometheus did not answer queries of ${pools} all through the window: no node is removed.`,
  ],
];

/** Whether every pool with auto-scaling follows its load; no condition where there is none. */
export function autoscalingCondition(decisions: readonly LaneDecision[]): readonly ConditionUpdate[] {
  const { intent } = decisions.find(({ lane }) => lane === autoscalingLane.name) ?? {};
  const rows = intent?.autoscaling?.pools ?? [];
  if (rows.length === 0) return [];
  const type = "AutoscalingActive";
  for (const [reason, tell] of blindness) {
    const pools = rows.filter(({ limitedBy = [] }) => limitedBy.includes(reason)).map(({ pool }) => pool);
    if (pools.length > 0) return [{ type, status: "False", reason, message: tell(pools.join(", ")) }];
  }
  return [{ type, status: "True", reason: "SamplesKnown", message: "The load of every pool is known." }];
}
