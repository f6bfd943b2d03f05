import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule, deletesPlans, grant, untilAllowed } from "../support/grants.ts";
import { secrets } from "../support/kinds.ts";
import { configMap, gated, inline, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench } from "../support/workbench.ts";

const allOfConfigMaps = coreRule("configmaps", "*");
const allOfSecrets = coreRule("secrets", "*");
const allOfJobs = { apiGroups: ["batch"], resources: ["jobs"], verbs: ["*"] };
/** A client that waits for the next attempt waits longer than the test. */
const slow = { retry: { initialSeconds: 300, maxSeconds: 300 } };

function secret(name: string): object {
  return inline({ apiVersion: "v1", kind: "Secret", metadata: { name } });
}

describe("what the server refuses after the first write", () => {
  test("[install-plan/46] a job that may not be made fails the plan, and the permission brings it back immediately", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    await grant(bench, [allOfConfigMaps, allOfJobs]);
    const stage = { name: "s", resources: [gated("gate")], jobs: [job("runs")] };
    await bench.create(bench.plan("p", [stage], slow));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    await grant(bench, [allOfConfigMaps, { ...allOfJobs, verbs: ["get", "delete"] }]);
    await untilAllowed(bench, { verb: "create", group: "batch", resource: "jobs" }, false);
    await bench.openGate("gate");
    const { status } = await bench.inPhase("p", "Failed");
    expect(status?.message).toContain("jobs.batch is forbidden");
    expect(conditionOf(status, "Stalled")?.reason).toBe("Forbidden");
    await grant(bench, [allOfConfigMaps, allOfJobs]);
    await bench.installed("p");
    expect((await bench.read("p")).status?.attempt).toBe(1);
  });

  test("[install-plan/83] what a plan before left behind and may not be deleted fails the plan until it may", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    const { namespace } = bench;
    await grant(bench, [allOfConfigMaps, allOfSecrets, deletesPlans]);
    await bench.create(bench.plan("a", [{ name: "s", resources: [configMap("c"), secret("dropped")] }]));
    await bench.installed("a");
    const resources = [configMap("c"), gated("gate")];
    const replaces = { plans: [{ name: "a" }] };
    await bench.create(bench.plan("b", [{ name: "s", resources }], { replaces, ...slow }));
    await bench.until("b", ({ states }) => states?.[0] === "RP");
    await grant(bench, [allOfConfigMaps, coreRule("secrets", "get"), deletesPlans]);
    await untilAllowed(bench, { verb: "delete", resource: "secrets" }, false);
    await bench.openGate("gate");
    const { status } = await bench.inPhase("b", "Failed");
    expect(status?.message).toContain("dropped");
    await grant(bench, [allOfConfigMaps, allOfSecrets, deletesPlans]);
    await bench.installed("b");
    expect(await bench.client.find(secrets, { namespace, name: "dropped" })).toBeUndefined();
  });

  test("[install-plan/42] [install-plan/46] a permission that comes back in a later stage does not wait for the next attempt", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    await grant(bench, [allOfConfigMaps, allOfSecrets]);
    const stages = [
      { name: "a", resources: [gated("gate")] },
      { name: "b", resources: [secret("late")] },
    ];
    await bench.create(bench.plan("p", stages, slow));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    await grant(bench, [allOfConfigMaps]);
    await untilAllowed(bench, { verb: "create", resource: "secrets" }, false);
    await bench.openGate("gate");
    await bench.inPhase("p", "Failed");
    await grant(bench, [allOfConfigMaps, allOfSecrets]);
    const { status } = await bench.installed("p", 8_000);
    expect(status?.attempt).toBe(1);
  });

  test("[install-plan/106] a deletion that lacks a permission continues when the permission comes back", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    const { namespace } = bench;
    await grant(bench, [allOfConfigMaps]);
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    await grant(bench, [coreRule("configmaps", "get")]);
    await untilAllowed(bench, { verb: "delete", resource: "configmaps" }, false);
    await bench.deletePlan("p");
    await bench.until("p", (now) => conditionOf(now, "DeletionBlocked")?.status === "True");
    await grant(bench, [allOfConfigMaps]);
    await eventually(
      async () => (await bench.client.find(installPlan.kind, { namespace, name: "p" })) === undefined,
      { withinMs: 8_000 },
    );
    expect(await bench.client.find(configMaps, { namespace, name: "c" })).toBeUndefined();
  });
});
