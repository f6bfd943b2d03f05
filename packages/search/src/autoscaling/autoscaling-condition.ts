import type { ConditionUpdate } from "@quartermaster/runtime";

import type { LaneDecision } from "../lane.ts";
import { autoscalingLane } from "./autoscaling-lane.ts";
import type { LimitReason } from "./recommend.ts";

const blind: LimitReason = "SamplesMissing";

/** Whether every pool with auto-scaling follows its load; no condition where there is none. */
export function autoscalingCondition(decisions: readonly LaneDecision[]): readonly ConditionUpdate[] {
  const { intent } = decisions.find(({ lane }) => lane === autoscalingLane.name) ?? {};
  const rows = intent?.autoscaling?.pools ?? [];
  if (rows.length === 0) return [];
  const silent = rows.filter(({ limitedBy = [] }) => limitedBy.includes(blind)).map(({ pool }) => pool);
  const type = "AutoscalingActive";
  if (silent.length === 0)
    return [{ type, status: "True", reason: "SamplesKnown", message: "The load of every pool is known." }];
  return [
    {
      type,
      status: "False",
      reason: blind,
      message: `The engine does not tell the load of ${silent.join(", ")}: no node is added or removed.`,
    },
  ];
}
