import type { ElasticsearchCluster } from "@quartermaster/api";
import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import { licenseParameters } from "@quartermaster/license-selection";
import { describe, expect, test } from "vitest";

import { capacityOf, clusterNeed, hasRoom, runState, sumNeeds } from "../../src/pool/capacity.ts";
import { aCluster, nowMs } from "../support/license-objects.ts";

const gib = 1024 ** 3;

function enterprise(spec: object): Pick<EnterpriseLicense, "spec"> {
  return { spec } as unknown as EnterpriseLicense;
}

function cluster(replicas: number, capacity?: object): ElasticsearchCluster {
  const status = capacity === undefined ? {} : { status: { capacity } };
  return { spec: { nodePools: [{ replicas }] }, ...status } as unknown as ElasticsearchCluster;
}

const nodes = (count: number) => ({ nodes: count, bytes: 0 });

describe("what a cluster needs", () => {
  test.each([
    { name: "what it requests", given: cluster(3), want: 3 },
    {
      name: "[licensing/C4] the pods that are still there while it shrinks",
      given: cluster(1, { presentNodes: 4 }),
      want: 4,
    },
    { name: "what it requests while it grows", given: cluster(5, { presentNodes: 3 }), want: 5 },
    {
      name: "what its auto-scaling decided, before the nodes are there",
      given: cluster(3, { desiredNodes: 6, presentNodes: 3 }),
      want: 6,
    },
  ])("$name", ({ given, want }) => {
    expect(clusterNeed(given).nodes).toBe(want);
  });
});

describe("what of a license is used", () => {
  test.each([
    {
      name: "3 and 4 of 10",
      license: { maxInstances: 10 },
      need: sumNeeds([nodes(3), nodes(4)]),
      want: { used: 7, limit: 10, allowed: 10 },
    },
    {
      name: "[licensing/C5] a limit of its own below the cap",
      license: { maxInstances: 10, capacityPolicy: { limit: 5 } },
      need: nodes(5),
      want: { used: 5, limit: 5, allowed: 5 },
    },
    {
      name: "[licensing/C6] 129 GiB are three units",
      license: { maxResourceUnits: 2 },
      need: { nodes: 3, bytes: 129 * gib },
      want: { used: 3, limit: 2, allowed: 2, fraction: "2.016" },
    },
    {
      name: "[licensing/C9] ten per cent over 10 are 11",
      license: { maxInstances: 10, capacityPolicy: { overdraftPercent: 10 } },
      need: nodes(11),
      want: { used: 11, limit: 10, allowed: 11 },
    },
    {
      name: "[licensing/C9] ten per cent over 19 are 20, not 21",
      license: { maxInstances: 19, capacityPolicy: { overdraftPercent: 10 } },
      need: nodes(20),
      want: { used: 20, limit: 19, allowed: 20 },
    },
  ])("$name", ({ license, need, want }) => {
    expect(capacityOf(enterprise(license), need)).toMatchObject(want);
  });
});

describe("whether there is room", () => {
  test.each([
    { name: "not for 4 beside 7 of 10", mode: "Enforce", others: 7, need: 4, want: false },
    { name: "for 3 beside 7 of 10", mode: "Enforce", others: 7, need: 3, want: true },
    { name: "always where it only warns", mode: "Warn", others: 7, need: 4, want: true },
    { name: "always where it only reports", mode: "Report", others: 70, need: 4, want: true },
    {
      name: "not for more nodes than the nested license covers",
      mode: "Enforce",
      others: 0,
      need: 6,
      want: false,
    },
    {
      name: "for a namespace at its own limit",
      mode: "Enforce",
      others: 5,
      inNamespace: 1,
      limitPerNamespace: 4,
      need: 3,
      want: true,
    },
    {
      name: "not for a namespace above its own limit, although the license has room",
      mode: "Enforce",
      others: 2,
      inNamespace: 2,
      limitPerNamespace: 4,
      need: 3,
      want: false,
    },
  ])("$name", ({ mode, others, inNamespace = 0, limitPerNamespace, need, want }) => {
    const policy = limitPerNamespace === undefined ? { mode } : { mode, limitPerNamespace };
    const license = enterprise({ maxInstances: 10, capacityPolicy: policy });
    const used = { all: nodes(others), inNamespace: nodes(inNamespace) };
    expect(hasRoom(license, used, { need: nodes(need), maxNodes: 5 })).toBe(want);
  });
});

describe("whether a cluster runs", () => {
  const at = (silentMinutes: number, reason = "Unreachable"): object => ({
    conditions: [
      {
        type: "Available",
        status: "False",
        reason,
        lastTransitionTime: new Date(nowMs - silentMinutes * 60_000).toISOString(),
      },
    ],
  });
  test.each([
    { name: "not before its engine has answered", replicas: 3, status: {}, want: "notYet" },
    { name: "with one member", replicas: 3, status: { capacity: { presentNodes: 1 } }, want: "running" },
    { name: "not with zero nodes", replicas: 0, status: {}, want: "stopped" },
    {
      name: "while it has been silent for less than the grace period",
      replicas: 3,
      status: { capacity: { presentNodes: 3 }, ...at(59) },
      want: "running",
    },
    {
      name: "not after it has been silent for the grace period",
      replicas: 3,
      status: { capacity: { presentNodes: 3 }, ...at(60) },
      want: "stopped",
    },
    {
      name: "while it is red, because then it answers",
      replicas: 3,
      status: { capacity: { presentNodes: 3 }, ...at(600, "ClusterRed") },
      want: "running",
    },
  ])("$name", ({ replicas, status, want }) => {
    const given = { ...aCluster("logs"), spec: { nodePools: [{ replicas }] }, status };
    expect(runState(given as unknown as ElasticsearchCluster, nowMs, licenseParameters)).toBe(want);
  });
});
