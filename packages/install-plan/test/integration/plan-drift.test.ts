import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMap, gated, deployment } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const deployments: Kind<KubeObject & { readonly spec: Spec }> = defineKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
});

interface Spec {
  readonly replicas?: number;
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly env?: readonly { readonly name: string }[] }[];
    };
  };
}

async function edit(bench: Workbench, name: string, { by = "kubectl-edit", ...body }: Edit): Promise<void> {
  const ref = { namespace: bench.namespace, name };
  await bench.client.patch(configMaps, ref, { patch: { kind: "merge", body }, fieldManager: by });
}

/** A merge patch, and who makes it. */
interface Edit {
  readonly by?: string;
  readonly metadata?: object;
  readonly data?: object;
}

async function dataOf(bench: Workbench, name: string): Promise<Readonly<Record<string, string>> | undefined> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name }))?.data;
}

describe("what others do to the objects of a plan", () => {
  test("[install-plan/68,69] an owned field comes back with one patch and an event, what others add stays", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c", { a: "1", b: "2" })] }]));
    await bench.installed("p");
    const position = await bench.audit.position();
    await edit(bench, "c", { metadata: { annotations: { note: "mine" } }, data: { a: "changed" } });
    await eventually(async (see) => see(await dataOf(bench, "c"))?.["a"] === "1", { withinMs: 5_000 });
    const live = await bench.client.get(configMaps, { namespace: bench.namespace, name: "c" });
    expect(live.metadata.annotations?.["note"]).toBe("mine");
    expect(await bench.writes(position)).toHaveLength(1);
    const events = await eventually(async () => {
      const notes = await bench.events("p");
      return notes.some(({ reason }) => reason === "Reverted") ? notes : undefined;
    });
    expect(events.find(({ reason }) => reason === "Reverted")?.note).toContain("kubectl-edit");
  });

  test("[install-plan/70] Strict removes what a disallowed manager added, Owned keeps it", async () => {
    await using bench = await setUpWorkbench();
    const strict = configMap("strict", { a: "1" }, { lifecycle: { revert: "Strict" } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [strict, configMap("owned")] }]));
    await bench.installed("p");
    await edit(bench, "owned", { data: { extra: "x" } });
    await edit(bench, "strict", { data: { extra: "x" } });
    await eventually(
      async (see) => {
        see((await bench.read("p")).status);
        return (await dataOf(bench, "strict"))?.["extra"] === undefined;
      },
      { withinMs: 5_000 },
    );
    expect(await dataOf(bench, "strict")).toEqual({ a: "1" });
    expect(await dataOf(bench, "owned")).toEqual({ a: "1", extra: "x" });
  });

  test("[install-plan/73] Strict leaves a path to others that the plan leaves to them, and takes the rest", async () => {
    await using bench = await setUpWorkbench();
    const lifecycle = { revert: "Strict", ignorePaths: ["/data/a"] };
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c", { a: "1", b: "1" }, { lifecycle })] }]),
    );
    await bench.installed("p");
    await edit(bench, "c", { data: { a: "theirs" } });
    await edit(bench, "c", { data: { extra: "x" } });
    await eventually(async () => (await dataOf(bench, "c"))?.["extra"] === undefined);
    expect(await dataOf(bench, "c")).toEqual({ a: "theirs", b: "1" });
    await bench.installed("p");
  });

  test("[install-plan/71,72] Off reports the paths and writes nothing, also for a single resource", async () => {
    await using bench = await setUpWorkbench();
    const left = configMap("left", { a: "1" }, { lifecycle: { revert: "Off" } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [left, configMap("kept")] }]));
    await bench.installed("p");
    const position = await bench.audit.position();
    await edit(bench, "left", { data: { a: "x" } });
    await edit(bench, "kept", { data: { a: "x" } });
    await eventually(async () => (await dataOf(bench, "kept"))?.["a"] === "1");
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "Drifted")?.status === "True" && now.counts?.drifted === 1,
    );
    expect(conditionOf(status, "Drifted")?.message).toContain("/data/a");
    expect(conditionOf(status, "Ready")?.status).toBe("False");
    expect(status?.details?.[0]).toMatchObject({
      state: "Drifted",
      otherManager: "kubectl-edit",
      fields: ["/data/a"],
    });
    expect(await dataOf(bench, "left")).toEqual({ a: "x" });
    expect((await bench.writes(position)).map(({ name }) => name)).toEqual(["kept"]);
  });

  test("[install-plan/131] an annotation keeps an object from being reverted until it ends, and the plan says so", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c", { a: "1" })] }]));
    await bench.installed("p");
    const revert = "install.quartermaster.dev/revert";
    const drifted = async (text: string): Promise<void> => {
      await eventually(async (see) => {
        const { status } = await bench.read("p");
        return see(conditionOf(status, "Drifted"))?.message.includes(text);
      });
    };
    await edit(bench, "c", { metadata: { annotations: { [revert]: "Off" } } });
    await drifted("No object has drifted. ConfigMap");
    await edit(bench, "c", { data: { a: "changed" } });
    await drifted(`annotation ${revert} keeps it from being reverted`);
    expect(await dataOf(bench, "c")).toEqual({ a: "changed" });
    expect((await bench.read("p")).status?.phase).toBe("Degraded");
    const end = new Date(Date.now() + 3_000).toISOString();
    await edit(bench, "c", { metadata: { annotations: { [`${revert}-until`]: end } } });
    await drifted("keeps it from being reverted until");
    await eventually(async (see) => see(await dataOf(bench, "c"))?.["a"] === "1", { withinMs: 10_000 });
    await bench.installed("p");
  });

  test("[install-plan/132] with * what any manager added is removed, but no annotation", async () => {
    await using bench = await setUpWorkbench();
    const lifecycle = { revert: "Strict", disallowedManagers: ["*"] };
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c", { a: "1" }, { lifecycle })] }]),
    );
    await bench.installed("p");
    const annotations = { note: "mine" };
    await edit(bench, "c", { by: "some-controller", metadata: { annotations }, data: { extra: "x" } });
    await eventually(async (see) => see(await dataOf(bench, "c"))?.["extra"] === undefined, {
      withinMs: 5_000,
    });
    const live = await bench.client.get(configMaps, { namespace: bench.namespace, name: "c" });
    expect(live.metadata.annotations).toMatchObject(annotations);
    expect(live.data).toEqual({ a: "1" });
  });

  test("[install-plan/73] a path left to others is set once and never reverted", async () => {
    await using bench = await setUpWorkbench();
    const scaled = deployment("web", { lifecycle: { ignorePaths: ["/spec/replicas"] } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [scaled] }]));
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "web" };
    expect((await bench.client.get(deployments, ref)).spec.replicas).toBe(1);
    await bench.client.patch(deployments, ref, {
      patch: { kind: "merge", body: { spec: { replicas: 3 } } },
      fieldManager: "autoscaler",
    });
    await bench.client.patch(deployments, ref, {
      patch: { kind: "merge", body: { spec: { paused: true, minReadySeconds: 1 } } },
      fieldManager: "other",
    });
    // A drift elsewhere makes us apply: the number of replicas must survive that.
    const { metadata } = await bench.client.get(deployments, ref);
    await bench.client.patch(deployments, ref, {
      patch: { kind: "merge", body: { metadata: { labels: { "install.quartermaster.dev/plan-id": null } } } },
      fieldManager: "other",
    });
    await eventually(
      async () =>
        (await bench.client.get(deployments, ref)).metadata.labels?.["install.quartermaster.dev/plan-id"] ===
        metadata.labels?.["install.quartermaster.dev/plan-id"],
    );
    expect((await bench.client.get(deployments, ref)).spec.replicas).toBe(3);
  });

  test("[install-plan/75] defaults and additions of the server are no drift", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [deployment("web")] }]));
    await bench.installed("p");
    const position = await bench.audit.position();
    const ref = { namespace: bench.namespace, name: "web" };
    await bench.client.patch(deployments, ref, {
      patch: {
        kind: "merge",
        body: { spec: { template: { metadata: { annotations: { injected: "yes" } } } } },
      },
      fieldManager: "some-webhook",
    });
    await bench.until("p", ({ counts }) => counts?.ready === 1);
    const { status } = await bench.installed("p");
    expect(conditionOf(status, "Drifted")?.status).toBe("False");
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/76] a label that was stripped comes back; the object is not taken for deleted", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "c" };
    const before = await bench.client.get(configMaps, ref);
    const label = "install.quartermaster.dev/plan-id";
    await edit(bench, "c", { metadata: { labels: { [label]: null } } });
    await eventually(
      async () => (await bench.client.get(configMaps, ref)).metadata.labels?.[label] !== undefined,
    );
    expect((await bench.client.get(configMaps, ref)).metadata.uid).toBe(before.metadata.uid);
    await bench.installed("p");
  });

  test("[install-plan/77] a deleted object is made again, others are left alone", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c"), configMap("d")] }]));
    await bench.installed("p");
    const position = await bench.audit.position();
    await bench.client.delete(configMaps, { namespace: bench.namespace, name: "c" });
    await eventually(async () => (await dataOf(bench, "c")) !== undefined, { withinMs: 5_000 });
    await bench.installed("p");
    expect((await bench.writes(position)).map(({ name, verb }) => [verb, name])).toEqual([["patch", "c"]]);
  });

  test("[install-plan/78] with recreate off it stays away and the plan says Missing", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [configMap("c", {}, { lifecycle: { recreate: false } })] }]),
    );
    await bench.installed("p");
    const position = await bench.audit.position();
    await bench.client.delete(configMaps, { namespace: bench.namespace, name: "c" });
    const { status } = await bench.until("p", ({ states }) => states?.[0] === "M");
    expect(conditionOf(status, "Ready")).toMatchObject({ status: "False", reason: "Missing" });
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/79] an object that is stuck in its deletion is made again only when it no longer exists", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const ref = { namespace: bench.namespace, name: "c" };
    await edit(bench, "c", { by: "holder", metadata: { finalizers: ["example.org/hold"] } });
    const { metadata } = await bench.client.get(configMaps, ref);
    await bench.client.delete(configMaps, ref);
    await bench.until("p", ({ states }) => states?.[0] === "T");
    await edit(bench, "c", { by: "holder", metadata: { finalizers: null } });
    const again = await eventually(async () => {
      const found = await bench.client.find(configMaps, ref);
      return found !== undefined && found.metadata.uid !== metadata.uid ? found : undefined;
    });
    expect(again.data).toEqual({ a: "1" });
    await bench.installed("p");
  });

  test("[install-plan/80] a paused plan reports drift and repairs it when it continues", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    await bench.patchPlan("p", { spec: { paused: true } });
    await bench.until("p", (status) => conditionOf(status, "Reconciling")?.reason === "Paused");
    const position = await bench.audit.position();
    await edit(bench, "c", { data: { a: "x" } });
    await bench.until("p", (status) => conditionOf(status, "Drifted")?.status === "True");
    expect(await bench.writes(position)).toEqual([]);
    await bench.patchPlan("p", { spec: { paused: false } });
    await eventually(async () => (await dataOf(bench, "c"))?.["a"] === "1");
    await bench.installed("p");
  });

  test("[install-plan/74] another client who never gives in is named, and we stop hammering", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const position = await bench.audit.position();
    for (let round = 0; round < 9; round += 1) {
      await edit(bench, "c", { by: "stubborn", data: { a: `fight ${round}` } });
      const isBack = async (): Promise<boolean> => (await dataOf(bench, "c"))?.["a"] === "1";
      const isContested = async (): Promise<boolean> =>
        conditionOf((await bench.read("p")).status, "Contested")?.status === "True";
      await eventually(async () => (await isBack()) || (await isContested()));
    }
    const { status } = await bench.until("p", (now) => conditionOf(now, "Contested")?.status === "True");
    expect(conditionOf(status, "Contested")?.message).toContain("stubborn");
    expect((await bench.writes(position)).length).toBeLessThanOrEqual(6);
  });

  test("[security/12] two plans that both insist on one object do not fight over it", async () => {
    await using bench = await setUpWorkbench();
    const insists = (value: string): object =>
      configMap("c", { a: value }, { lifecycle: { adoption: "Always" } });
    await bench.create(bench.plan("first", [{ name: "s", resources: [insists("1")] }]));
    await bench.installed("first");
    const position = await bench.audit.position();
    await bench.create(bench.plan("second", [{ name: "s", resources: [insists("2")] }]));
    await bench.installed("second");
    await bench.until("first", ({ states }) => states?.[0] === "C");
    for (const name of ["first", "second", "first"])
      await bench.patchPlan(name, { metadata: { labels: { touched: String(name.length) } } });
    await bench.until("first", ({ states }) => states?.[0] === "C");
    expect(await dataOf(bench, "c")).toEqual({ a: "2" });
    expect((await bench.writes(position)).length).toBeLessThanOrEqual(2);
  });

  test("[install-plan/74] so it is while the plan waits for a stage", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c"), gated("g")] }]));
    await bench.until("p", ({ states }) => states?.[0] === "RP");
    const position = await bench.audit.position();
    const isContested = async (): Promise<boolean> =>
      conditionOf((await bench.read("p")).status, "Contested")?.status === "True";
    for (let round = 0; round < 9; round += 1) {
      await edit(bench, "c", { by: "stubborn", data: { a: `fight ${round}` } });
      await eventually(async () => (await dataOf(bench, "c"))?.["a"] === "1" || (await isContested()));
    }
    const { status } = await bench.until("p", (now) => conditionOf(now, "Contested")?.status === "True");
    expect(conditionOf(status, "Contested")?.message).toContain("stubborn");
    expect((await bench.writes(position)).length).toBeLessThanOrEqual(6);
    await bench.openGate("g");
    await bench.until("p", ({ finishedAt }) => finishedAt !== undefined);
  });

  test("[security/12] nor do two plans that wait for a stage each", async () => {
    await using bench = await setUpWorkbench();
    const insists = (value: string): object =>
      configMap("c", { a: value }, { lifecycle: { adoption: "Always" } });
    await bench.create(bench.plan("first", [{ name: "s", resources: [insists("1"), gated("g1")] }]));
    await bench.until("first", ({ states }) => states?.[0] === "RP");
    const position = await bench.audit.position();
    await bench.create(bench.plan("second", [{ name: "s", resources: [insists("2"), gated("g2")] }]));
    await eventually(async () => {
      const statuses = await Promise.all(
        ["first", "second"].map(async (name) => (await bench.read(name)).status),
      );
      return statuses.some((status) => conditionOf(status, "Contested")?.status === "True");
    });
    for (const name of ["first", "second", "first"])
      await bench.patchPlan(name, { metadata: { labels: { touched: String(name.length) } } });
    await bench.until("second", ({ observedGeneration }) => observedGeneration !== undefined);
    // One write of the ten is the second plan's other object.
    expect((await bench.writes(position)).length).toBeLessThanOrEqual(10);
  });
});
