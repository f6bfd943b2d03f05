import { firstTen } from "@quartermaster/api";
import {
  held,
  type Lane,
  type Outcome,
  type Rule,
  settled,
  stalled,
  type Verdict,
} from "@quartermaster/runtime";

import { nameRecheckMs } from "./apply-object.ts";
import { autoscalingLane } from "./autoscaling/autoscaling-lane.ts";
import { certificatesLane } from "./certificates/certificates-lane.ts";
import { clusterSettingsLane } from "./cluster-settings/cluster-settings-lane.ts";
import { dashboardsLane } from "./dashboards/dashboards-lane.ts";
import { protectionLane } from "./deletion/protection-lane.ts";
import { fileRealmLane } from "./file-realm/file-realm-lane.ts";
import { formationLane } from "./formation/formation-lane.ts";
import { handoverMessage, inheritChildren } from "./handover/inherit-children.ts";
import { ignoredFieldsEvents } from "./ignored-fields/ignored-fields-condition.ts";
import { decideLane, type LaneDecision, type SearchLane } from "./lane.ts";
import { licenseLane } from "./license/license-lane.ts";
import type { Distribution } from "./model/distribution-facts.ts";
import { monitoringLane } from "./monitoring/monitoring-lane.ts";
import { attributesLane } from "./node-attributes/attributes-lane.ts";
import { heldNodesLane } from "./nodes/held-nodes-lane.ts";
import { nodesLane } from "./nodes/nodes-lane.ts";
import { poolsLane } from "./pools/pools-lane.ts";
import { searchReasons } from "./reasons.ts";
import { janitorLane } from "./repair/janitor-lane.ts";
import { clusterConditions } from "./report/cluster-conditions.ts";
import { clusterReport, laneRecords } from "./report/cluster-report.ts";
import { repositoriesLane } from "./repositories/repositories-lane.ts";
import type { SearchAction } from "./search-action.ts";
import { securityLane } from "./security-content/security-lane.ts";
import { saysReady, type Seen } from "./seen.ts";
import { supportingObjectsLane } from "./supporting-objects/supporting-objects-lane.ts";

type ClusterRule = Rule<Seen, SearchAction>;

/** Nothing is carried out. An operation that is open ends what it is in the middle of. */
function stops(seen: Seen, outcome: Outcome, now: Date): Verdict<SearchAction> {
  const open = seen.status.operation === undefined ? [] : [heldNodesLane];
  const decisions = [...open, protectionLane].map((lane) => decideLane(lane, seen, now));
  return {
    actions: [],
    outcome,
    status: clusterReport(seen, decisions, now),
    lanes: lanesOf(seen, decisions),
  };
}

/** Nothing is written for it. What was decided is forgotten once the other one has everything: it is that one's to know. */
const supersededByNewGroup: ClusterRule = {
  name: "supersededByNewGroup",
  decide: (seen, now) => {
    const { isSuperseded, leftToHeir } = seen;
    if (!isSuperseded) return undefined;
    const message =
      leftToHeir.length === 0
        ? "An OpenSearchCluster of this name exists in group opensearch.org and acts instead. Deleting this one deletes nothing."
        : handoverMessage(leftToHeir);
    return {
      actions: [],
      outcome: stalled({ reason: searchReasons.supersededByNewGroup, message }),
      status: leftToHeir.length === 0 ? {} : clusterReport(seen, [], now),
    };
  },
};

const invalidSpec: ClusterRule = {
  name: "invalidSpec",
  decide: (seen, now) => {
    const [first] = seen.issues;
    if (first === undefined) return undefined;
    const all = firstTen(
      seen.issues.map(({ path, message }) => `${path} ${message}`),
      "; ",
    );
    return stops(seen, stalled({ reason: first.reason, message: `${all}.` }), now);
  },
};

/** Objects of others wake their own cluster, not this one: they are looked for again. */
const nameClash: ClusterRule = {
  name: "nameClash",
  decide: (seen, now) =>
    seen.takenNames.length === 0
      ? undefined
      : stops(
          seen,
          stalled(
            {
              reason: searchReasons.nameClash,
              message: `These names are needed and belong to others: ${firstTen(seen.takenNames)}. Rename the cluster or the pool, or remove them.`,
            },
            nameRecheckMs,
          ),
          now,
        ),
};

/** Lanes that continue while the author has paused the rest. */
const lanesWhilePaused: readonly SearchLane[] = [heldNodesLane, certificatesLane, protectionLane];
/** In the order in which their outcomes count. */
const lanes: Readonly<Record<Distribution, readonly SearchLane[]>> = {
  opensearch: [
    formationLane,
    protectionLane,
    nodesLane,
    janitorLane,
    certificatesLane,
    securityLane,
    poolsLane,
    attributesLane,
    autoscalingLane,
    clusterSettingsLane,
    repositoriesLane,
    supportingObjectsLane,
    dashboardsLane,
    monitoringLane,
  ],
  elasticsearch: [
    formationLane,
    protectionLane,
    nodesLane,
    janitorLane,
    certificatesLane,
    fileRealmLane,
    poolsLane,
    attributesLane,
    autoscalingLane,
    clusterSettingsLane,
    repositoriesLane,
    supportingObjectsLane,
    dashboardsLane,
    monitoringLane,
    licenseLane,
  ],
};

const operateCluster: ClusterRule = {
  name: "operateCluster",
  decide: (seen, now) => {
    const { isPaused, distribution } = seen.cluster;
    const decisions = (isPaused ? lanesWhilePaused : lanes[distribution]).map((lane) =>
      decideLane(lane, seen, now),
    );
    return {
      actions: ignoredFieldsEvents(seen),
      outcome: isPaused
        ? held({
            reason: searchReasons.paused,
            message: "spec.operations.paused is true: only certificates are renewed.",
          })
        : settled(saysReady(seen.status) ? undefined : afterReadyMs),
      status: clusterReport(seen, decisions, now),
      conditions: clusterConditions(seen, decisions),
      lanes: lanesOf(seen, shown(decisions)),
    };
  },
};

function lanesOf(seen: Seen, decisions: readonly LaneDecision[]): readonly Lane<SearchAction>[] {
  return decisions.map((decision) => ({
    name: decision.lane,
    actions: decision.actions,
    outcome: decision.outcome,
    ...recordOf(seen, decision),
  }));
}

/** A record is its lane's: what the lane intends is only recorded if its writes succeed. */
function recordOf(
  { status }: Seen,
  { lane, intent, intentIfFailed }: LaneDecision,
): Pick<Lane<SearchAction>, "status" | "statusIfFailed"> {
  const record = laneRecords[lane];
  if (record === undefined) return {};
  return {
    status: record({ ...status, ...intent }),
    statusIfFailed: record({ ...status, ...intentIfFailed }),
  };
}

/** Once the cluster is reported ready, one more sample ends the queries that were needed only until then. */
const afterReadyMs = 1_000;

/** While any lane moves, the cluster is reconciling; what is stuck stands in the blockers. Stalled only when nothing else moves. */
function shown(decisions: readonly LaneDecision[]): readonly LaneDecision[] {
  const isMoving = decisions.some(({ outcome }) => outcome.kind === "waiting");
  if (!isMoving) return decisions;
  return decisions.map((decision) =>
    decision.outcome.kind === "stalled" ? { ...decision, outcome: { kind: "settled" } } : decision,
  );
}

/** First response wins: the gate, then the lanes. */
export const searchRules: readonly ClusterRule[] = [
  supersededByNewGroup,
  invalidSpec,
  inheritChildren,
  nameClash,
  operateCluster,
];
