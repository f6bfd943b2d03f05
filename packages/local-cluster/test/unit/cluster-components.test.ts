import { describe, expect, test } from "vitest";

import { buildAnnouncement } from "../../src/assets/build.ts";
import { COMPONENTS, componentNamed } from "../../src/assets/component.ts";
import { planCluster } from "../../src/cluster/options.ts";
import { controlPlaneComponents, nodeComponents } from "../../src/cluster/start-local-cluster.ts";
import { realSystem } from "../../src/system/system.ts";

describe("the binaries that a cluster needs", () => {
  const always = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd"];
  const onNodes = ["kubelet", "kube-proxy", "coredns"];

  test.each([
    { name: "simulated nodes", options: { kwokNodes: 3 }, first: [...always, "kwok"], later: [] },
    { name: "real nodes", options: { nodes: 1 }, first: always, later: onNodes },
    { name: "both", options: { nodes: 1, kwokNodes: 1 }, first: [...always, "kwok"], later: onNodes },
  ])("with $name", ({ options, first, later }) => {
    const plan = planCluster(options, realSystem);
    expect(new Set(controlPlaneComponents(plan))).toEqual(new Set(first));
    expect(new Set(nodeComponents(plan))).toEqual(new Set(later));
  });
});

describe("before builds", () => {
  const module = { project: "etcd", directory: "", version: "v1", goVersion: "1", lockHash: "" } as const;
  const assetOf = (component: (typeof COMPONENTS)[number]) => ({ component, module, directory: "" });

  test("long ones are announced, with the reason", () => {
    const text = buildAnnouncement(COMPONENTS.map(assetOf), "no network");
    expect(text).toMatch(
      /^9 programs are not in the cache and cannot be downloaded \(no network\): .* about \d+ minutes/,
    );
  });

  test("short ones are not", () => {
    expect(buildAnnouncement([assetOf(componentNamed("etcd"))], "no network")).toBeUndefined();
  });
});
