import { describe, expect, test } from "vitest";

import { certificatesLane } from "../../../src/certificates/certificates-lane.ts";
import { dashboardsLane } from "../../../src/dashboards/dashboards-lane.ts";
import type { EngineFacts } from "../../../src/engine/engine-facts.ts";
import { decideLane, type LaneDecision, type SearchLane } from "../../../src/lane.ts";
import { monitoringLane } from "../../../src/monitoring/monitoring-lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import type { AccountFact, Seen } from "../../../src/seen.ts";
import { supportingObjectsLane } from "../../../src/supporting-objects/supporting-objects-lane.ts";
import { aDashboards, aMonitoring } from "../../a-search-cluster.ts";
import { aRoll, managersAndData, type RollChanges, shardOn } from "../../support/a-roll.ts";
import { aMaterial, known } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");
const orders = shardOn("orders", ["logs-data-0", "logs-data-1"]);
const persistent = {
  "cluster.routing.allocation.enable": "primaries",
  "cluster.metadata.quartermaster_frozen_by": "restart-1",
};
const excluded = {
  "cluster.routing.allocation.exclude._name": "logs-data-2",
  "cluster.metadata.quartermaster_excluded": "logs-data-2",
};
const begun = { pool: "data", cause: "test", startedAt: "2026-11-17T09:59:00Z" } as const;

const restart: Operation = {
  ...begun,
  id: "restart-1",
  type: "Restart",
  node: "logs-data-1",
  podUid: "uid-logs-data-1",
  step: "Prepare",
};

const removal: Operation = {
  ...begun,
  id: "remove-1",
  type: "Remove",
  node: "logs-data-2",
  podUid: "uid-logs-data-2",
  step: "Shrink",
  drains: true,
  drainedAt: "2026-11-17T09:59:30Z",
};

/** The moments at which a node would be taken away, with what is done then where everything is known. */
const moments: Readonly<Record<string, { readonly given: RollChanges; readonly want: string }>> = {
  "a restart is declared": { given: { outdated: ["logs-data-1"] }, want: "Restart logs-data-1" },
  "a removal is declared": { given: { slots: { data: 3 } }, want: "Remove logs-data-2" },
  "a pod is deleted": {
    given: {
      outdated: ["logs-data-1"],
      status: { operation: restart },
      engine: { settings: known({ persistent, transient: {} }) },
    },
    want: "deletePod",
  },
  "a place is taken": {
    given: {
      slots: { data: 3 },
      status: { operation: removal },
      engine: { settings: known({ persistent: excluded, transient: {} }) },
    },
    want: "shrinkPool",
  },
};

type FactName = Exclude<keyof EngineFacts, "identities" | "served">;

/** A new fact needs a decision here: the type knows them all. */
const refuses: Readonly<Record<FactName, readonly (keyof typeof moments)[]>> = {
  health: Object.keys(moments),
  nodes: Object.keys(moments),
  coordination: Object.keys(moments),
  shards: Object.keys(moments),
  settings: Object.keys(moments),
  // A restart leaves the shards where they are.
  nodeLoad: ["a removal is declared", "a place is taken"],
  // An empty node holds copies of no index.
  indices: ["a removal is declared"],
  // Users, licenses and repositories say nothing about shards or votes; what is not explained counts as possible.
  explanations: [],
  license: [],
  securityIndex: [],
  repositories: [],
};

const destructive = new Set(["deletePod", "shrinkPool", "deleteClaim", "deletePool"]);

/** What takes a node away, or announces it. */
function taken({ actions, intent }: LaneDecision, before: Operation | undefined): readonly string[] {
  const { operation } = intent ?? {};
  const isNew = operation !== undefined && before === undefined;
  return [
    ...actions.map((action) => action.kind).filter((name) => destructive.has(name)),
    ...(isNew ? [`${operation.type} ${operation.node}`] : []),
  ];
}

function at(moment: string, unknown: Partial<EngineFacts>): Seen {
  const { given = {} } = moments[moment] ?? {};
  const engine = { ...given.engine, ...unknown };
  return aRoll({ shards: orders, ...given, engine });
}

describe("a node is taken away only where everything is known", () => {
  const rows = Object.entries(refuses).flatMap(([fact, refused]) =>
    Object.keys(moments).map((moment) => [moment, fact, refused.includes(moment)] as const),
  );
  test.for(rows)("[search/SC-58] %s while %s is unknown: refused %s", ([moment, fact, isRefused]) => {
    const unknown = { [fact]: { isKnown: false, why: "timeout" } };
    const seen = at(moment, unknown);
    const { want = "" } = moments[moment] ?? {};
    expect(taken(decideLane(nodesLane, at(moment, {}), now), seen.status.operation)).toEqual([want]);
    expect(taken(decideLane(nodesLane, seen, now), seen.status.operation)).toEqual(isRefused ? [] : [want]);
  });
});

const account: AccountFact = {
  name: "logs-password",
  state: "ours",
  live: undefined,
  login: { username: "u", password: "p" },
  version: "1",
};

describe("lanes that need no engine act while one of its reads is unknown", () => {
  const lanes: readonly (readonly [SearchLane, string])[] = [
    [supportingObjectsLane, "apply"],
    [certificatesLane, "issueCertificate"],
    [dashboardsLane, "apply"],
    [monitoringLane, "apply"],
  ];
  const rows = lanes.flatMap(([lane, action]) =>
    Object.keys(refuses).map((fact) => [lane.name, fact, lane, action] as const),
  );
  test.for(rows)("[search/SC-58] %s, %s", ([, fact, lane, action]) => {
    const cluster = { ...managersAndData(3, 2), dashboards: aDashboards(), monitoring: aMonitoring() };
    const missing = { name: "logs-http-cert", state: "missing", live: undefined, pair: undefined } as const;
    const seen = aRoll({ cluster, engine: { [fact]: { isKnown: false, why: "timeout" } } });
    const material = aMaterial({
      dashboards: account,
      monitoring: account,
      certificates: new Map([...seen.material.certificates, ["http", missing]]),
    });
    const { actions } = decideLane(lane, { ...seen, material }, now);
    expect(actions.map((each) => each.kind)).toContain(action);
  });
});
