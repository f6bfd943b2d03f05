import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps, serviceAccounts } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const stages = [{ name: "s", resources: [configMap("c"), configMap("d")] }];

describe("what a plan says when not all is well", () => {
  test("[install-plan/128] a missing object and a lost account degrade it, a pause is a phase", async () => {
    await using bench = await setUpWorkbench();
    const { namespace, account: name } = bench;
    await bench.create(bench.plan("p", stages, { lifecycle: { recreate: false } }));
    const { status: good } = await bench.installed("p");
    expect(good).toMatchObject({ phase: "Installed", objects: "2/2" });
    await bench.client.delete(configMaps, { namespace, name: "c" });
    const { status: missing } = await bench.inPhase("p", "Degraded");
    expect(missing).toMatchObject({ objects: "1/2" });
    expect(conditionOf(missing, "Ready")).toMatchObject({ status: "False", reason: "Missing" });
    await bench.patchPlan("p", { spec: { paused: true } });
    const { status: paused } = await bench.inPhase("p", "Paused");
    expect(conditionOf(paused, "Ready")).toMatchObject({ status: "False", reason: "Paused" });
    await bench.patchPlan("p", { spec: { paused: false, lifecycle: { recreate: true } } });
    await bench.inPhase("p", "Installed");
    await bench.client.delete(serviceAccounts, { namespace, name });
    const { status: lost } = await bench.inPhase("p", "Degraded");
    expect(conditionOf(lost, "Ready")).toMatchObject({ status: "False", reason: "ServiceAccountMissing" });
    expect(lost).toMatchObject({ objects: "2/2" });
  });

  test("[install-plan/128] a superseded plan is not ready, and stays superseded when its successor no longer exists", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("a", stages));
    await bench.installed("a");
    await bench.create(bench.plan("b", stages, { replaces: { plans: [{ name: "a" }] } }));
    await bench.installed("b");
    const { status } = await bench.inPhase("a", "Superseded");
    expect(conditionOf(status, "Ready")).toMatchObject({ status: "False", reason: "Superseded" });
    await bench.deletePlan("b");
    const after = await bench.until("a", (now) => conditionOf(now, "Superseded")?.reason === "SuccessorGone");
    expect(after.status).toMatchObject({
      phase: "Superseded",
      message: "Plan b replaced this plan and has been deleted since.",
    });
    expect(conditionOf(after.status, "Superseded")?.status).toBe("True");
  });
});
