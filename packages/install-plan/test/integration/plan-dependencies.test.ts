import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMap, gated } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

function stage(name: string): object {
  return { name: "s", resources: [configMap(name, { a: "1" })] };
}

async function exists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(configMaps, { namespace: bench.namespace, name })) !== undefined;
}

async function planExists(bench: Workbench, name: string): Promise<boolean> {
  return (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name })) !== undefined;
}

describe("a plan that depends on others", () => {
  test("[install-plan/135] writes nothing before they are ready, and follows a successor", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("app", [stage("of-app")], { dependsOn: { plans: [{ name: "base-1" }] } }));
    await bench.until(
      "app",
      (now) => conditionOf(now, "Ready")?.message.includes("base-1 does not exist") ?? false,
    );
    await bench.create(bench.plan("base-1", [{ name: "s", resources: [gated("g")] }]));
    await bench.until(
      "app",
      (now) => conditionOf(now, "Ready")?.message.includes("base-1 is Applying") ?? false,
    );
    expect(await exists(bench, "of-app")).toBe(false);
    await bench.openGate("g");
    await bench.installed("app");

    const replaces = { plans: [{ name: "base-1" }] };
    await bench.create(bench.plan("base-2", [stage("new")], { replaces }));
    await bench.installed("base-2");
    await bench.create(
      bench.plan("later", [stage("of-later")], { dependsOn: { plans: [{ name: "base-1" }] } }),
    );
    await bench.installed("later");
  });

  test("[install-plan/136] in a cycle is Invalid and names it; one without the dependency frees the other", async () => {
    await using bench = await setUpWorkbench();
    const on = (name: string): object => ({ dependsOn: { plans: [{ name }] } });
    await bench.create(bench.plan("a", [stage("of-a")], on("b")));
    await bench.create(bench.plan("b", [stage("of-b")], on("a")));
    const { status } = await bench.inPhase("a", "Invalid");
    expect(conditionOf(status, "Validated")).toMatchObject({ status: "False", reason: "DependencyCycle" });
    expect(conditionOf(status, "Validated")?.message).toContain("a → b → a");
    await bench.deletePlan("b");
    await eventually(async () => !(await planExists(bench, "b")));
    await bench.create(bench.plan("b", [stage("of-b")]));
    await bench.installed("a");
  });

  test("[install-plan/137] is deleted before them when all are deleted together, and holds none up that is deleted alone", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("base", [stage("of-base")]));
    const app = bench.plan("app", [stage("of-app")], { dependsOn: { selector: "tier=base" } });
    await bench.create(app);
    const ref = { namespace: bench.namespace, name: "base" };
    await bench.client.patch(installPlan.kind, ref, {
      patch: { kind: "merge", body: { metadata: { labels: { tier: "base" } } } },
    });
    await bench.installed("app");
    const held = { namespace: bench.namespace, name: "of-app" };
    await bench.client.patch(configMaps, held, {
      patch: { kind: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } },
    });
    await bench.deletePlan("app");
    await bench.deletePlan("base");
    await bench.until("base", (now) => now.message?.includes("depend on this one are deleted: app") ?? false);
    expect(await exists(bench, "of-base")).toBe(true);
    await bench.client.patch(configMaps, held, {
      patch: { kind: "merge", body: { metadata: { finalizers: null } } },
    });
    await eventually(async () => !(await planExists(bench, "app")));
    await eventually(async () => !(await planExists(bench, "base")), { withinMs: 20_000 });

    await bench.create(bench.plan("base", [stage("of-base")]));
    await bench.create(bench.plan("user", [stage("of-user")], { dependsOn: { plans: [{ name: "base" }] } }));
    await bench.installed("user");
    await bench.deletePlan("base");
    await eventually(async () => !(await planExists(bench, "base")), { withinMs: 20_000 });
    expect(await exists(bench, "of-user")).toBe(true);
  });
});
