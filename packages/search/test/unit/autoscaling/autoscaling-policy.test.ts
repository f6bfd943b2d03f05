import type { Live } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { type ClusterObject, readCluster } from "../../../src/model/read-cluster.ts";
import { readDeclaration } from "../../../src/offline/read-declaration.ts";

const auto = {
  mode: "Auto",
  minReplicas: 2,
  maxReplicas: 6,
  metrics: [{ type: "Cpu", target: 60 }],
};

function declared(autoscaling: object | undefined, roles: readonly string[] = ["data"]): Live<ClusterObject> {
  const read = readDeclaration({
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team" },
    spec: {
      general: { serviceName: "logs", version: "2.19.4" },
      nodePools: [
        { component: "managers", replicas: 1, roles: ["cluster_manager"] },
        { component: "data", replicas: 3, roles, ...(autoscaling === undefined ? {} : { autoscaling }) },
      ],
    },
  });
  if (read.kind !== "read") throw new Error(JSON.stringify(read));
  return read.object;
}

/** The messages for metrics of a pool, with this monitoring. */
function issuesOf(metrics: readonly object[], monitoring?: object): readonly string[] {
  const object = declared({ ...auto, metrics });
  const general = { ...object.spec.general, ...(monitoring === undefined ? {} : { monitoring }) };
  const { issues } = readCluster({ ...object, spec: { ...object.spec, general } });
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("metrics of type Prometheus", () => {
  const query = { type: "Prometheus", query: "avg(up)", target: 1 };
  const remedy =
    "spec.nodePools[1].autoscaling.metrics: type Prometheus needs the cluster's own Prometheus: set spec.general.monitoring.enable and stack.mode: Standalone";

  test.each([
    { name: "no monitoring", monitoring: undefined, want: [remedy] },
    { name: "monitoring that is off", monitoring: { enable: false }, want: [remedy] },
    { name: "no stack", monitoring: { enable: true, stack: { mode: "None" } }, want: [remedy] },
    {
      name: "another client else's stack",
      monitoring: { enable: true, stack: { mode: "Operator" } },
      want: [remedy],
    },
    { name: "a stack of its own", monitoring: { enable: true, stack: { mode: "Standalone" } }, want: [] },
    { name: "a stack that the API server decides on", monitoring: { enable: true }, want: [] },
  ])("with $name", ({ monitoring, want }) => {
    expect(issuesOf([query], monitoring)).toEqual(want);
    expect(issuesOf(auto.metrics, monitoring)).toEqual([]);
  });

  test("have a query, which others have not, and there are two at most", () => {
    const own = { enable: true, stack: { mode: "Standalone" } };
    const path = "spec.nodePools[1].autoscaling.metrics";
    const shape = "belongs to type Prometheus, which needs it, and to no other";
    expect(issuesOf([{ type: "Prometheus", target: 1 }], own)).toEqual([`${path}[0].query: ${shape}`]);
    expect(issuesOf([{ type: "Cpu", query: "avg(up)", target: 1 }], own)).toEqual([
      `${path}[0].query: ${shape}`,
    ]);
    const three = ["a", "b", "c"].map((each) => ({ ...query, query: each }));
    expect(issuesOf(three, own)).toEqual([`${path}: has more than two of type Prometheus`]);
  });
});

function withTarget(object: Live<ClusterObject>, target: number | undefined): Live<ClusterObject> {
  const row = { pool: "data", mode: "Auto" as const, ...(target === undefined ? {} : { target }) };
  return { ...object, status: { autoscaling: { pools: [row] } } };
}

describe("how many nodes a pool has to have", () => {
  test.each([
    { name: "no auto-scaling: what is declared", autoscaling: undefined, target: 5, want: 3 },
    { name: "off: what is declared", autoscaling: { ...auto, mode: "Off" }, target: 5, want: 3 },
    { name: "Recommend: what is declared", autoscaling: { ...auto, mode: "Recommend" }, target: 5, want: 3 },
    { name: "[search/SC-93] Auto: the target of the status", autoscaling: auto, target: 5, want: 5 },
    { name: "Auto without a target yet: what is declared", autoscaling: auto, target: undefined, want: 3 },
    { name: "a forged target above the limit: the limit", autoscaling: auto, target: 900, want: 6 },
    { name: "a forged target below the limit: the limit", autoscaling: auto, target: 0, want: 2 },
    {
      name: "a declared number outside of the limits: the limit",
      autoscaling: { ...auto, minReplicas: 4 },
      target: undefined,
      want: 4,
    },
  ])("$name", ({ autoscaling, target, want }) => {
    const { cluster } = readCluster(withTarget(declared(autoscaling), target));
    expect(cluster.pools[1]?.replicas).toBe(want);
  });

  test("managers never follow a target", () => {
    const object = withTarget(declared(auto, ["cluster_manager", "data"]), 5);
    expect(readCluster(object).cluster.pools[1]?.replicas).toBe(3);
  });
});

describe("what cannot be carried out", () => {
  test.each([
    {
      name: "limits the wrong way round",
      object: declared({ ...auto, minReplicas: 7 }),
      want: "spec.nodePools[1].autoscaling.minReplicas must not be greater than maxReplicas",
    },
    {
      name: "Auto for managers",
      object: declared(auto, ["data", "master"]),
      want: "spec.nodePools[1].autoscaling.mode must not be Auto in a pool with role cluster_manager: write Recommend, or give data nodes a pool of their own",
    },
    {
      name: "more than all of a disk",
      object: declared({ ...auto, metrics: [{ type: "Disk", target: 120 }] }),
      want: "spec.nodePools[1].autoscaling.metrics[0].target is a percentage: write 1 to 100",
    },
  ])("$name", ({ object, want }) => {
    expect(readCluster(object).issues.map(({ path, message }) => `${path} ${message}`)).toEqual([want]);
  });

  test.each([
    {
      name: "managers in mode Recommend",
      object: declared({ ...auto, mode: "Recommend" }, ["cluster_manager"]),
    },
    {
      name: "many shards",
      object: declared({ ...auto, metrics: [{ type: "ShardsPerNode", target: 500 }] }),
    },
  ])("$name are fine", ({ object }) => {
    expect(readCluster(object).issues).toEqual([]);
  });
});

test("what is left out of the pace has its standard", () => {
  const { cluster } = readCluster(declared({ ...auto, scaleDown: { maxStep: 3 } }));
  expect(cluster.pools[1]?.autoscaling).toMatchObject({
    scaleUp: { stabilizationMs: 120_000, maxStep: 2, cooldownMs: 300_000 },
    scaleDown: { stabilizationMs: 1_800_000, maxStep: 3, cooldownMs: 3_600_000 },
  });
});
