import type { LimitReason } from "./recommend.ts";

/** What each reason of `limitedBy` means, for people. */
export const limitTexts: Readonly<Record<LimitReason, string>> = {
  Cooldown: "the last change was too short a while ago",
  ExpansionUnsupported: "the API server does not let the volumes grow",
  IndexReplicas: "the copies of an index need as many nodes",
  IndexReplicasUnknown: "nobody knows yet how many copies indices have",
  MaxReplicas: "maxReplicas is reached",
  MinReplicas: "minReplicas is reached",
  NotGreen: "the health is not green",
  NotIdle: "shards move, or nodes are added, restarted or removed",
  PrometheusSilent: "the cluster's own Prometheus has not answered a query all through the window",
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
