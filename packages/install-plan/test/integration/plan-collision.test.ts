import { defineKind, type Kind } from "@quartermaster/runtime";
import { aConfigMap, aDeployment, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps, deployments, type Keyed, namespaces } from "../support/kinds.ts";
import { configMap, gated, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const replicaSets: Kind = defineKind({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  scope: "Namespaced",
});

function adopting(adoption: "IfUnowned" | "Always"): { readonly lifecycle: object } {
  return { lifecycle: { adoption } };
}

async function makeConfigMap(bench: Workbench, name: string, data: Readonly<Record<string, string>>) {
  return await bench.client.create(configMaps, aConfigMap({ name, namespace: bench.namespace, data }), {
    fieldManager: "somebody",
  });
}

async function readConfigMap(bench: Workbench, name: string): Promise<Keyed> {
  return await bench.client.get(configMaps, { namespace: bench.namespace, name });
}

describe("objects that are there already", () => {
  test("[install-plan/61] [security/11] no one's object is not touched unless the plan says so", async () => {
    await using bench = await setUpWorkbench();
    const before = await makeConfigMap(bench, "taken", { a: "theirs" });
    const position = await bench.audit.position();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("free"), configMap("taken")] }]));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("Collision");
    expect(status?.message).toContain(`ConfigMap ${bench.namespace}/taken already exists`);
    expect(await bench.writes(position)).toEqual([]);
    expect((await readConfigMap(bench, "taken")).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
  });

  test("an object that was in the way is deleted", async () => {
    await using bench = await setUpWorkbench();
    const before = await makeConfigMap(bench, "taken", { a: "theirs" });
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("taken")] }]));
    await bench.inPhase("p", "Invalid");
    await bench.client.delete(configMaps, before.metadata);
    // No one touches the plan; it looks again on its own only after ten minutes.
    await bench.installed("p");
    expect((await readConfigMap(bench, "taken")).data).toEqual({ a: "1" });
  });

  test("a namespace that stood in the way may be deleted: the plan then makes its own and fills it", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const name = `${bench.namespace}-inside`;
    bench.use(removing(bench.client, namespaces, { name }));
    await bench.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const resources = [
      inline({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
      inline({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: name } }),
    ];
    await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster" }));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain(`Namespace ${name} already exists`);
    await bench.client.delete(namespaces, { name });
    await bench.installed("p");
    expect(await bench.client.find(configMaps, { namespace: name, name: "c" })).toBeDefined();
  });

  test("[install-plan/62] no one's object is taken over in place and keeps what others set", async () => {
    await using bench = await setUpWorkbench();
    const before = await makeConfigMap(bench, "c", { a: "theirs", b: "theirs" });
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }], adopting("IfUnowned")));
    const { status } = await bench.installed("p");
    expect(status?.preview).toMatchObject({ adopt: 1, create: 0 });
    const after = await readConfigMap(bench, "c");
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.data).toEqual({ a: "1", b: "theirs" });
  });

  test("[install-plan/63] an object of another plan is not taken over by IfUnowned", async () => {
    await using bench = await setUpWorkbench();
    const stages = [{ name: "s", resources: [configMap("c")] }];
    await bench.create(bench.plan("first", stages));
    await bench.installed("first");
    const position = await bench.audit.position();
    await bench.create(bench.plan("second", stages, adopting("IfUnowned")));
    const { status } = await bench.inPhase("second", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("Collision");
    expect(status?.message).toContain(`belongs to plan ${bench.namespace}/first`);
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/64] Always takes it over, and the other plan lets go without a fight", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("first", [{ name: "s", resources: [configMap("c", { a: "1" })] }]));
    await bench.installed("first");
    const before = await readConfigMap(bench, "c");
    const position = await bench.audit.position();
    await bench.create(
      bench.plan("second", [{ name: "s", resources: [configMap("c", { a: "2" })] }], adopting("Always")),
    );
    await bench.installed("second");
    const first = await bench.until("first", ({ states }) => states?.[0] === "C");
    expect(conditionOf(first.status, "Ready")?.status).toBe("False");
    expect(first.status?.details?.[0]?.message).toContain(`belongs to plan ${bench.namespace}/second`);
    const after = await readConfigMap(bench, "c");
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.data).toEqual({ a: "2" });
    expect(await bench.writes(position)).toHaveLength(1);
  });

  test.each([
    { adoption: "IfUnowned" as const, phase: "Invalid", text: "belongs to Deployment web" },
    { adoption: "Always" as const, phase: "Installed", text: "" },
  ])(
    "[install-plan/65] an object that a controller made is $phase with $adoption",
    async ({ adoption, phase, text }) => {
      await using bench = await setUpWorkbench();
      await bench.client.create(deployments, aDeployment({ name: "web", namespace: bench.namespace }));
      const set = await eventually(async () => {
        const { items } = await bench.client.listPage(replicaSets, { namespace: bench.namespace });
        return items[0];
      });
      const wanted = {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: { name: set.metadata.name, annotations: { "example.com/wanted": "yes" } },
      };
      await bench.create(
        bench.plan("p", [{ name: "s", wait: "Applied", resources: [inline(wanted)] }], adopting(adoption)),
      );
      const { status } = await bench.inPhase("p", phase);
      expect(status?.message).toContain(text);
      const after = await bench.client.get(replicaSets, set.metadata);
      expect(after.metadata.annotations?.["example.com/wanted"]).toBe(
        phase === "Invalid" ? undefined : "yes",
      );
      expect(after.metadata.uid).toBe(set.metadata.uid);
    },
  );
});

describe("objects that appear while the plan is carried out", () => {
  test.each([
    { name: "other fields", data: { theirs: "yes" } },
    { name: "the same fields", data: { a: "theirs" } },
  ])("[install-plan/66] an object made meanwhile with $name stays as its maker made it", async ({ data }) => {
    await using bench = await setUpWorkbench();
    const stages = [
      { name: "a", resources: [gated("gate")] },
      { name: "b", resources: [configMap("late", { a: "ours" })] },
    ];
    await bench.create(bench.plan("p", stages, { retry: { initialSeconds: 600, maxSeconds: 600 } }));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    const theirs = await makeConfigMap(bench, "late", data);
    await bench.openGate("gate");
    const { status } = await bench.inPhase("p", "Failed");
    expect(conditionOf(status, "Stalled")?.reason).toBe("Collision");
    expect(status?.message).toContain(`ConfigMap ${bench.namespace}/late`);
    const after = await readConfigMap(bench, "late");
    expect(after.metadata.uid).toBe(theirs.metadata.uid);
    expect(after.data).toEqual(data);
    expect(after.metadata.labels).toBeUndefined();
    expect(after.metadata.annotations).toBeUndefined();
    await bench.client.delete(configMaps, after.metadata);
    await bench.installed("p");
    expect((await readConfigMap(bench, "late")).data).toEqual({ a: "ours" });
  });

  test("[install-plan/67] a copy of our marks on another object is nothing to us", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const { labels = {}, annotations = {} } = (await readConfigMap(bench, "c")).metadata;
    expect(Object.keys(labels)).toContain("install.quartermaster.dev/plan-id");
    const child = aConfigMap({ name: "child", namespace: bench.namespace, labels, annotations });
    await bench.client.create(configMaps, child);
    await bench.patchPlan("p", { spec: { historyLimit: 7 } });
    const { status } = await bench.until("p", ({ observedGeneration }) => observedGeneration === 2);
    expect(status?.counts?.total).toBe(1);
    await bench.deletePlan("p");
    await eventually(
      async () =>
        (await bench.client.find(configMaps, { namespace: bench.namespace, name: "c" })) === undefined,
    );
    expect((await readConfigMap(bench, "child")).metadata.deletionTimestamp).toBeUndefined();
  });
});
