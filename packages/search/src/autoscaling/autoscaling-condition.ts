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
      `The cluster's own Prometheus did not respond to queries of ${pools} all through the window: no node is removed.`,
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

export const limitTexts: Readonly<Record<LimitReason, string>> = {
  Cooldown: "the last change was too short a while ago",
  ExpansionUnsupported: "the API server does not let the volumes grow",
  IndexReplicas: "the copies of an index need as many nodes",
  IndexReplicasUnknown: "it is not known yet how many copies indices have",
  MaxReplicas: "maxReplicas is reached",
  MinReplicas: "minReplicas is reached",
  NotGreen: "the health is not green",
  NotIdle: "shards move, or nodes are added, restarted or removed",
  PrometheusSilent: "the cluster's own Prometheus has not responded to a query all through the window",
  SamplesMissing: "the engine does not tell its load",
  ScaleDownRefused: "the rest of the cluster cannot do without the node",
  Step: "maxStep nodes at a time",
  VolumesFirst: "volumes grow before nodes are added",
  WindowFilling: "the operator has not watched for as long as the window is",
};

/** The reasons as one phrase; empty without any. */
export function limitsText(limitedBy: readonly string[] | undefined): string {
  return (limitedBy ?? []).map((reason) => `${reason}: ${textOf(reason)}`).join("; ");
}

function textOf(reason: string): string {
  return Object.entries(limitTexts).find(([known]) => known === reason)?.[1] ?? "see the guide";
}
