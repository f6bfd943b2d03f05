import type { ConditionUpdate } from "@quartermaster/runtime";

import { autoscalingCondition } from "../autoscaling/autoscaling-condition.ts";
import { isLicenseExpired } from "../engine/engine-facts.ts";
import { fieldsIgnored, ignoredFieldsCondition } from "../ignored-fields/ignored-fields-condition.ts";
import type { LaneDecision } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/** Conditions besides Ready, Reconciling and Stalled. */
export const conditionTypes = [
  "Available",
  "AutoscalingActive",
  "CertificatesValid",
  "SecurityApplied",
  "LicenseApplied",
  "MonitoringReady",
  fieldsIgnored,
] as const;

export function clusterConditions(
  seen: Seen,
  decisions: readonly LaneDecision[],
): readonly ConditionUpdate[] {
  return [
    availability(seen),
    ...ignoredFieldsCondition(seen),
    ...autoscalingCondition(decisions),
    laneCondition("CertificatesValid", "certificates", decisions),
    laneCondition("SecurityApplied", "security", decisions),
    ...(seen.cluster.monitoring === undefined
      ? []
      : [laneCondition("MonitoringReady", "monitoring", decisions)]),
    ...(isLicenseRequested(seen) ? [laneCondition("LicenseApplied", "license", decisions)] : []),
  ];
}

function isLicenseRequested({ license: { wanted, problem, desired } }: Seen): boolean {
  return wanted !== undefined || problem !== undefined || desired !== undefined;
}

function availability({ engine, status }: Seen): ConditionUpdate {
  const say = (state: ConditionUpdate["status"], reason: string, message: string): ConditionUpdate => ({
    type: "Available",
    status: state,
    reason,
    message,
  });
  if (status.clusterUuid === undefined)
    return say("False", "Bootstrapping", "The cluster has not formed yet.");
  if (isLicenseExpired(engine))
    return say(
      "Unknown",
      searchReasons.licenseExpired,
      "The engine tells no health: its license has expired.",
    );
  if (!engine.health.isKnown) return say("False", "Unreachable", "No node responds to the operator.");
  if (engine.health.value.status === "red") return say("False", "ClusterRed", "Primary shards are missing.");
  return say("True", "Serving", "The cluster has a manager and all primary shards.");
}

function laneCondition(type: string, lane: string, decisions: readonly LaneDecision[]): ConditionUpdate {
  const outcome = decisions.find((decision) => decision.lane === lane)?.outcome;
  if (outcome === undefined || outcome.kind === "settled")
    return { type, status: "True", reason: "AsDeclared", message: "As declared." };
  return { type, status: "False", ...outcome.why };
}
