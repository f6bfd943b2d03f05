import { eventually, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps, namespaces } from "../support/kinds.ts";
import { configMap, gated, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, setUpWorkbench } from "../support/workbench.ts";

function many(count: number, prefix = "c"): readonly object[] {
  return Array.from({ length: count }, (_, index) => configMap(`${prefix}${index}`, {}));
}

describe("limits of a plan", () => {
  test.each([
    {
      name: "500 stages",
      stages: Array.from({ length: 500 }, (_, index) => ({ name: `s${index}`, resources: many(1) })),
      text: "spec.stages: Too many",
    },
    {
      name: "10,000 objects in one stage",
      stages: [{ name: "s", resources: many(10_000) }],
      text: "spec.stages[0].resources: Too many",
    },
    { name: "no stage", stages: [], text: "spec.stages" },
  ])("[security/16] $name are refused by the server", async ({ stages, text }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await expect(bench.create(bench.plan("p", stages))).rejects.toThrow(text);
  });

  test("[security/16] more objects than a plan may hold are refused though they come as a list", async () => {
    await using bench = await setUpWorkbench();
    const items = Array.from({ length: 5_001 }, (_, index) => ({ metadata: { name: `c${index}` } }));
    const list = { apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items };
    await bench.create(bench.plan("p", [{ name: "s", resources: [inline(list)] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("a list may have at most 5000 objects");
  });

  test("[security/16] a plan of 1.4 MB is refused with the advice to keep its manifests beside it", async () => {
    await using bench = await setUpWorkbench();
    const resources = ["a", "b"].map((name) => configMap(name, { text: "x".repeat(700_000) }));
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("1 MiB");
    expect(await bench.writes(position)).toEqual([]);
  });
});

describe("plans that replace", () => {
  test("[security/13] a cycle and a plan that replaces itself touch nothing", async () => {
    await using bench = await setUpWorkbench();
    const stages = [{ name: "s", resources: [configMap("c")] }];
    const position = await bench.audit.position();
    const replacing = (name: string) => ({ replaces: { plans: [{ name }] } });
    await bench.create(bench.plan("a", stages, { ...replacing("b"), paused: true }));
    await bench.create(bench.plan("b", stages, replacing("a")));
    await bench.patchPlan("a", { spec: { paused: false } });
    await bench.create(bench.plan("self", stages, replacing("self")));
    for (const name of ["a", "b", "self"]) {
      const { status } = await bench.inPhase(name, "Invalid");
      expect(conditionOf(status, "Stalled")?.reason).toBe("ReplaceCycle");
    }
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[security/13] a plan of another namespace cannot be named and is not meant", async () => {
    await using bench = await setUpWorkbench();
    await using elsewhere = await makeNamespace(bench.api, "elsewhere");
    const stages = [{ name: "s", resources: [configMap("c")] }];
    const foreign = { ...bench.plan("a", stages), metadata: { name: "a", namespace: elsewhere.name } };
    const made = await bench.create(foreign);
    const named = { replaces: { plans: [{ name: "a", namespace: elsewhere.name }] } };
    await expect(bench.create(bench.plan("b", stages, named))).rejects.toThrow(
      'unknown field "spec.replaces.plans[0].namespace"',
    );
    await bench.create(bench.plan("b", stages, { replaces: { plans: [{ name: "a" }] } }));
    await bench.installed("b");
    const after = await bench.client.raw({
      method: "GET",
      path: `/apis/install.quartermaster.dev/v1alpha1/namespaces/${elsewhere.name}/installplans/a`,
    });
    expect(after).toMatchObject({ metadata: { resourceVersion: made.metadata.resourceVersion } });
  });
});

describe("transformations", () => {
  const to = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };
  const from = { apiVersion: "v1", kind: "ConfigMap", allowUnowned: true };

  test.each([
    { name: "no selection", given: {}, text: "at least one of names, labelSelector, fieldSelector" },
    { name: "an empty selector", given: { labelSelector: "" }, text: "labelSelector" },
    { name: "an object for a selector", given: { labelSelector: {} }, text: "labelSelector" },
  ])("[security/14] $name is refused by the server", async ({ given, text }) => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const transformations = [{ name: "t", from: { ...from, ...given }, to }];
    const plan = bench.plan("p", [{ name: "s", resources: [configMap("new")] }], { transformations });
    await expect(bench.create(plan)).rejects.toThrow(text);
  });

  test("[security/14] a selector that matches too much stops the plan, and what matches is shown before it goes", async () => {
    await using bench = await setUpWorkbench();
    for (const name of ["old-1", "old-2", "old-3"])
      await bench.client.create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: bench.namespace, labels: { old: "yes" } },
      });
    const position = await bench.audit.position();
    const stages = [{ name: "s", resources: [configMap("new")] }];
    const selecting = (maxMatches: number) => [
      { name: "t", from: { ...from, labelSelector: "old=yes", maxMatches }, to },
    ];
    await bench.create(bench.plan("wide", stages, { transformations: selecting(2) }));
    const { status } = await bench.inPhase("wide", "Invalid");
    expect(status?.message).toContain("Selects more than maxMatches (2) objects");
    await bench.create(bench.plan("shown", stages, { transformations: selecting(3), approval: "Manual" }));
    const shown = await bench.inPhase("shown", "AwaitingApproval");
    expect(shown.status?.preview).toMatchObject({ delete: 3 });
    const deletes = shown.status?.preview?.details?.filter(({ action }) => action === "delete");
    expect(deletes?.map(({ object }) => object.name)).toEqual(["old-1", "old-2", "old-3"]);
    expect(await bench.writes(position)).toEqual([]);
  });
});

describe("namespaces", () => {
  test.each([
    { name: "the operator that saw the first one", isRestarted: false },
    { name: "an operator that was started meanwhile", isRestarted: true },
  ])(
    "[security/26] a namespace that was made again while the plan is carried out is not written to by $name",
    async ({ isRestarted }) => {
      await using bench = await setUpWorkbench({ clusterRules: [allPermissions], isOperating: false });
      const operator = await bench.operate();
      const { client } = bench;
      const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: `${bench.namespace}-home` } };
      bench.use(removing(client, namespaces, home.metadata));
      await client.create(namespaces, home);
      const inside = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "c", namespace: home.metadata.name },
      };
      const stages = [
        { name: "a", resources: [gated("gate")] },
        { name: "b", resources: [inline(inside)] },
      ];
      await bench.create(bench.plan("p", stages, { scope: "Cluster" }));
      await bench.until("p", ({ states }) => states?.[0] === "P");
      if (isRestarted) await operator.stop();
      await client.delete(namespaces, home.metadata);
      const isDeleted = async (): Promise<boolean> =>
        (await client.find(namespaces, home.metadata)) === undefined;
      await eventually(isDeleted, { withinMs: 90_000 });
      await client.create(namespaces, home);
      if (isRestarted) await bench.operate();
      await bench.openGate("gate");
      const { status } = await bench.until("p", ({ message = "" }) => message.includes("recreated"), 90_000);
      expect(status?.stage).toBe("b");
      expect(await client.find(configMaps, inside.metadata)).toBeUndefined();
    },
  );
});
