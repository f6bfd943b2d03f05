import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule, deletesPlans, grant } from "../support/grants.ts";
import { claims } from "../support/kinds.ts";
import { aClaim, configMap, gated, inline, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

function stage(names: readonly string[], data: Readonly<Record<string, string>> = { a: "1" }): object {
  return { name: "s", resources: names.map((name) => configMap(name, data)) };
}

async function uidOf(bench: Workbench, name: string): Promise<string | undefined> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name }))?.metadata.uid;
}

async function gone(bench: Workbench, name: string): Promise<void> {
  await eventually(
    async () =>
      (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name })) === undefined,
  );
}

describe("handovers that do not go straight", () => {
  test("[install-plan/86] a plan that matches the selector of one in progress is not touched", async () => {
    await using bench = await setUpWorkbench();
    const replaces = { selector: "app=shop" };
    await bench.create(bench.plan("b", [{ name: "s", resources: [gated("g")] }], { replaces }));
    await bench.until("b", ({ states }) => states?.[0] === "P");
    const late = bench.plan("x", [stage(["of-x"])]);
    await bench.create({ ...late, metadata: { ...late.metadata, labels: { app: "shop" } } });
    await bench.installed("x");
    const before = await uidOf(bench, "of-x");
    await bench.openGate("g");
    await bench.installed("b");
    expect(await uidOf(bench, "of-x")).toBe(before);
    expect((await bench.read("x")).status?.phase).toBe("Installed");
    expect((await bench.read("b")).status?.replaces).toBeUndefined();
  });

  test("[install-plan/89,91] a successor that was rolled back and is deleted takes nothing of its predecessor's, taken back or not", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x", "y"])]));
    await bench.installed("a");
    const before = await uidOf(bench, "x");
    const first = {
      name: "s0",
      resources: [configMap("x", { a: "new" }), configMap("only-b")],
      jobs: [job("fails", "fail")],
    };
    const replaces = { plans: [{ name: "a" }], onFailure: "Rollback" };
    await bench.patchPlan("a", { spec: { paused: true } });
    await bench.create(bench.plan("b", [first, stage(["y"], { a: "new" })], { replaces }));
    await bench.until("b", (now) => conditionOf(now, "Stalled")?.reason === "RolledBack");
    // Paused, it takes nothing back yet.
    await bench.inPhase("a", "Paused");
    await bench.deletePlan("b");
    await gone(bench, "b");
    expect(await uidOf(bench, "x")).toBe(before);
    expect(await uidOf(bench, "only-b")).toBeUndefined();
    await bench.patchPlan("a", { spec: { paused: false } });
    await bench.installed("a");
    const { data } = await bench.client.get(configMaps, { namespace: bench.namespace, name: "x" });
    expect(data).toEqual({ a: "1" });
  });

  test("[install-plan/93] a third plan takes over from the first when the second never began", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x"])]));
    await bench.installed("a");
    const before = await uidOf(bench, "x");
    const broken = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { a: { b: 1 } } };
    await bench.create(
      bench.plan("b", [{ name: "s", resources: [inline(broken)] }], { replaces: { plans: [{ name: "a" }] } }),
    );
    await bench.inPhase("b", "Invalid");
    await bench.create(bench.plan("c", [stage(["x"], { a: "3" })], { replaces: { plans: [{ name: "b" }] } }));
    await bench.installed("c");
    await bench.inPhase("a", "Superseded");
    await bench.inPhase("b", "Superseded");
    expect(await uidOf(bench, "x")).toBe(before);
  });

  test("a volume claim that the successor drops stays, without marks and with a word about it", async () => {
    await using bench = await setUpWorkbench();
    const claim = inline(aClaim("data"), { readiness: { mode: "Ignore" } });
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("x"), configMap("y"), claim] }]));
    await bench.installed("a");
    await bench.create(bench.plan("b", [stage(["x"])], { replaces: { plans: [{ name: "a" }] } }));
    await bench.installed("b");
    const { metadata } = await bench.client.get(claims, { namespace: bench.namespace, name: "data" });
    expect([metadata.deletionTimestamp, metadata.labels ?? {}]).toEqual([undefined, {}]);
    expect(await uidOf(bench, "y")).toBeUndefined();
    await eventually(async () =>
      (await bench.events("b")).some(
        ({ reason, note }) => reason === "Protected" && note.includes("/data is kept: it contains data"),
      ),
    );
  });

  test.each([
    { finishWhen: "Ready", isKept: true },
    { finishWhen: "Applied", isKept: false },
  ])(
    "[install-plan/83] a stage that does not wait: with finishWhen $finishWhen",
    async ({ finishWhen, isKept }) => {
      await using bench = await setUpWorkbench();
      await bench.create(bench.plan("a", [stage(["x", "dropped"])]));
      await bench.installed("a");
      const stages = [{ name: "s", wait: "Applied", resources: [configMap("x"), gated("g")] }];
      await bench.create(bench.plan("b", stages, { replaces: { plans: [{ name: "a" }], finishWhen } }));
      await bench.until("b", ({ phase }) => phase === (isKept ? "Finishing" : "Degraded"));
      expect((await uidOf(bench, "dropped")) !== undefined).toBe(isKept);
      await bench.openGate("g");
      await bench.installed("b");
      await bench.inPhase("a", "Superseded");
      expect(await uidOf(bench, "dropped")).toBeUndefined();
    },
  );

  test("no more plans that are over are kept than historyLimit says, the latest ones", async () => {
    await using bench = await setUpWorkbench();
    for (const [index, name] of ["v1", "v2", "v3", "v4"].entries()) {
      const replaces = { plans: [{ name: `v${index}` }] };
      const more = index === 0 ? {} : { replaces };
      await bench.create(bench.plan(name, [stage(["x"])], { historyLimit: 2, ...more }));
      await bench.installed(name);
    }
    await gone(bench, "v1");
    for (const name of ["v2", "v3"]) await bench.inPhase(name, "Superseded");
    await bench.patchPlan("v4", { spec: { historyLimit: 0 } });
    await gone(bench, "v2");
    await gone(bench, "v3");
    expect((await bench.read("v4")).status?.phase).toBe("Installed");
    expect(await uidOf(bench, "x")).toBeDefined();
  });

  test("what a handover deletes is previewed, and the permission to do so requested before the first write", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "*")]);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "old" } };
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("x"), inline(secret)] }]));
    await bench.installed("a");
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "get"), deletesPlans]);
    const position = await bench.audit.position();
    const replaces = { plans: [{ name: "a" }] };
    await bench.create(bench.plan("b", [stage(["x"])], { replaces, approval: "Manual" }));
    const forbidden = await bench.inPhase("b", "Forbidden");
    expect(forbidden.status?.permissions?.missing).toEqual([
      { verb: "delete", group: "", resource: "secrets", namespace: bench.namespace },
    ]);
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "*"), deletesPlans]);
    const { status } = await bench.inPhase("b", "AwaitingApproval");
    expect(status?.preview).toMatchObject({ takeover: 1, delete: 1 });
    expect(status?.preview?.details?.[0]).toMatchObject({ action: "delete", object: { name: "old" } });
    expect(await bench.writes(position)).toEqual([]);
  });

  test("a plan that was replaced misses nothing and is in conflict with no one, also after the next one", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", [stage(["x", "dropped"])]));
    await bench.installed("a");
    for (const [name, before] of [
      ["b", "a"],
      ["c", "b"],
    ] as const) {
      await bench.create(bench.plan(name, [stage(["x"])], { replaces: { plans: [{ name: before }] } }));
      await bench.installed(name);
      await bench.inPhase(before, "Superseded");
    }
    await bench.patchPlan("a", { spec: { historyLimit: 9 } });
    const { status } = await bench.until("a", ({ observedGeneration }) => observedGeneration === 2);
    expect(status?.counts).toMatchObject({ total: 2, unknown: 2, missing: 0, conflict: 0 });
    expect(status?.details ?? []).toEqual([]);
    expect(conditionOf(status, "Applied")?.reason).toBe("Superseded");
  });
});
