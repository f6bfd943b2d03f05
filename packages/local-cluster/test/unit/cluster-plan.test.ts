import { describe, expect, test } from "vitest";

import { type DirectoryOwner, isAbandoned } from "../../src/cluster/claim-directory.ts";
import { planCluster, withoutRealNodes } from "../../src/cluster/options.ts";
import { assertLinux } from "../../src/cluster/start-local-cluster.ts";
import { assertSocketsFit } from "../../src/nodes/node-paths.ts";
import { kubeconfig } from "../../src/pki/cluster-credentials.ts";
import { identifyProcess } from "../../src/process/process-identity.ts";
import { realSystem, type System } from "../../src/system/system.ts";

const system: System = {
  ...realSystem,
  env: {},
  homeDirectory: "/home/someone",
  randomHex: () => "c0ffee00",
};

describe("a cluster's plan", () => {
  test("has one simulated node, a random name and a place in the user's cache by default", () => {
    const plan = planCluster({}, system);
    expect(plan).toMatchObject({
      name: "c0ffee00",
      nodes: [],
      lifetime: "attached",
      etcdCompactionInterval: "300000ms",
      goGcPercent: 100,
    });
    expect(plan.parentDirectory).toBe("/home/someone/.cache/quartermaster/clusters");
    expect(plan.kwokNodes).toEqual([{ name: "kwok-1", zone: "a" }]);
  });

  test("spreads nodes over three zones and keeps the names and zones that were given", () => {
    expect(planCluster({ nodes: 4 }, system).nodes.map(({ zone }) => zone)).toEqual(["a", "b", "c", "a"]);
    expect(planCluster({ nodes: [{ name: "x", zone: "z" }, {}] }, system).nodes).toEqual([
      { name: "x", zone: "z" },
      { name: "node-2", zone: "b" },
    ]);
  });

  test("keeps the number and the zones of the nodes when they can only be simulated", () => {
    const plan = withoutRealNodes(planCluster({ nodes: 2 }, system));
    expect(plan.nodes).toEqual([]);
    expect(plan.kwokNodes).toEqual([
      { name: "node-1", zone: "a" },
      { name: "node-2", zone: "b" },
    ]);
  });
});

describe("who answers for a directory", () => {
  const launcher = identifyProcess(process.pid) ?? { pid: 0, startTicks: "" };
  const dead = { pid: process.pid, startTicks: "1" };
  test.each<{ readonly name: string; readonly owner: DirectoryOwner; readonly want: boolean }>([
    {
      name: "an attached cluster whose launcher lives",
      owner: { mode: "attached", launcher, bootId: "now" },
      want: false,
    },
    {
      name: "an attached cluster whose launcher no longer exists",
      owner: { mode: "attached", launcher: dead, bootId: "now" },
      want: true,
    },
    {
      name: "a detached cluster whose launcher no longer exists",
      owner: { mode: "detached", launcher: dead, bootId: "now" },
      want: false,
    },
    {
      name: "a detached cluster of before the reboot",
      owner: { mode: "detached", launcher, bootId: "before" },
      want: true,
    },
  ])("is settled for $name", ({ owner, want }) => {
    expect(isAbandoned(owner, "now")).toBe(want);
  });
});

test("writes a kubeconfig whose credential works through a proxy", () => {
  const config = kubeconfig({
    server: "https://127.0.0.1:1",
    caPem: "CA",
    user: "admin",
    credential: { token: "t" },
  });
  expect(config).toMatchObject({
    clusters: [{ cluster: { server: "https://127.0.0.1:1", "certificate-authority-data": "Q0E=" } }],
    users: [{ user: { token: "t" } }],
  });
});

test("says what to do where there is no Linux", () => {
  expect(() => assertLinux("linux")).not.toThrow();
  expect(() => assertLinux("darwin")).toThrow(
    /needs Linux; this is darwin\. Run it in a Linux virtual machine/,
  );
});

test("accepts a directory whose sockets just fit and refuses one byte more", () => {
  const longest = `/${"f".repeat(107 - "/etcd-stale-relay.sock".length - 1)}`;
  expect(() => assertSocketsFit(longest)).not.toThrow();
  expect(() => assertSocketsFit(`${longest}f`)).toThrow(/too deep/);
});
