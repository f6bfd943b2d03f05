import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";
import { aConfigMap, aJob, eventually, type PolicyRule } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { identityOf } from "../../src/model/identity.ts";
import { ownerLabelsFor } from "../../src/ownership/owner-labels.ts";
import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { bystanderInstalls, letMalloryIn, type Mallory } from "../support/mallory.ts";
import { configMap, gated, job } from "../support/manifests.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const writes: readonly PolicyRule[] = [
  coreRule("configmaps", "get", "create", "patch"),
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "create"] },
];

/** The object as the plan would mark it: all clients who may read the plan can make this. */
function forgedFor(plan: InstallPlan, object: KubeObject): KubeObject {
  const { namespace = "" } = plan.metadata;
  const placed = { ...object, metadata: { ...object.metadata, namespace } };
  const ownerLabels = ownerLabelsFor({ plan, revision: 1 }, identityOf(placed));
  return { ...placed, metadata: { ...placed.metadata, ...ownerLabels } };
}

const foreign = aConfigMap({ name: "c", data: { a: "foreign" } });

async function squat(how: "create" | "apply", { client }: Mallory, object: KubeObject): Promise<void> {
  if (how === "create") await client.create(configMaps, object);
  else await client.apply(configMaps, object, { fieldManager: "quartermaster", force: true });
}

async function dataOf({ client, namespace }: Workbench): Promise<unknown> {
  const found: KubeObject & { readonly data?: unknown } = await client.get(configMaps, {
    namespace,
    name: "c",
  });
  return found.data;
}

function ownedBy(
  { apiVersion, kind, metadata: { name, uid = "" } }: InstallPlan,
  object: KubeObject,
): KubeObject {
  const ownerReferences = [{ apiVersion, kind, name, uid }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

describe("labels alone prove no ownership", () => {
  test.each([
    { name: "created", how: "create" as const },
    { name: "applied under our manager's name", how: "apply" as const },
  ])(
    "[security/100] an object that was $name with the plan's labels before its start is not the plan's",
    async ({ how }) => {
      await using bench = await setUpWorkbench();
      const mallory = await letMalloryIn(bench, { rules: writes });
      const plan = bench.plan("p", [{ name: "s", resources: [configMap("c")] }], { approval: "Manual" });
      const created = await bench.create(plan);
      await bench.inPhase("p", "AwaitingApproval");
      await squat(how, mallory, forgedFor(created, foreign));
      await bench.patchPlan("p", { spec: { approved: true } });
      const { status } = await bench.until("p", ({ phase }) => phase === "Invalid" || phase === "Installed");
      await bystanderInstalls(bench);
      expect(conditionOf(status, "Stalled")?.reason).toBe("NameTaken");
      expect(status?.message).toContain("labels of this plan that the plan did not set");
      expect(await dataOf(bench)).toEqual({ a: "foreign" });
    },
  );

  test("[security/100] nor is one that was created while the plan is carried out, and clean-up leaves it", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench, { rules: writes });
    const stages = [
      { name: "one", resources: [gated("gate")] },
      { name: "two", resources: [configMap("c")] },
    ];
    const created = await bench.create(bench.plan("p", stages));
    await bench.until("p", ({ states }) => states?.[0] === "P");
    await squat("create", mallory, forgedFor(created, foreign));
    await bench.openGate("gate");
    const { status } = await bench.until("p", ({ phase }) => phase === "Failed" || phase === "Installed");
    await bystanderInstalls(bench);
    expect(conditionOf(status, "Stalled")?.reason).toBe("NameTaken");
    await bench.deletePlan("p");
    const ref = { namespace: bench.namespace, name: "gate" };
    await eventually(async () => (await bench.client.find(configMaps, ref)) === undefined);
    expect(await dataOf(bench)).toEqual({ a: "foreign" });
  });

  test.each([
    { name: "with the plan's labels and owner", isForged: true },
    { name: "without them", isForged: false },
  ])(
    "[security/100] a foreign Job under the name of a job, $name, is no success of it",
    async ({ isForged }) => {
      await using bench = await setUpWorkbench();
      const mallory = await letMalloryIn(bench, { rules: writes });
      const { namespace, client } = bench;
      const stage = { name: "s", resources: [gated("gate")], jobs: [job("migrate")] };
      const plan = await bench.create(bench.plan("p", [stage], { retry: { initialSeconds: 1 } }));
      const { status: before } = await bench.until("p", ({ states }) => states?.[0] === "P");
      const bare = aJob({ name: before?.jobs?.[0]?.jobName ?? "", namespace });
      const squatted: KubeObject = isForged ? ownedBy(plan, forgedFor(plan, bare)) : bare;
      const { metadata: theirs } = await mallory.client.create(jobs, squatted);
      await eventually(async () => {
        const { status } = await client.get(jobs, theirs);
        return status?.conditions?.some(({ type }) => type === "Complete") ?? false;
      });
      await bench.openGate("gate");
      const { status } = await bench.until("p", ({ phase }) => phase === "Failed" || phase === "Installed");
      await bystanderInstalls(bench);
      expect(conditionOf(status, "Stalled")?.reason).toBe("NameTaken");
      expect(status?.jobs?.[0]?.state).not.toBe("Succeeded");
      expect((await client.get(jobs, theirs)).metadata.uid).toBe(theirs.uid);
      await client.delete(jobs, theirs, { propagation: "Background" });
      await bench.installed("p");
    },
  );
});
