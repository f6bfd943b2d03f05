import { installPlan } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { configMaps } from "../support/kinds.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap, gated } from "../support/manifests.ts";
import { enforcePolicy } from "../support/policy.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const manual = { approval: "Manual", lifecycle: { adoption: "IfUnowned" } } as const;
const stages = [{ name: "s", resources: [configMap("there", { a: "planned" })] }];

async function edit({ client, namespace }: Workbench, value: string): Promise<void> {
  const patch = { kind: "merge", body: { data: { a: value } } } as const;
  await client.patch(configMaps, { namespace, name: "there" }, { patch });
}

async function valueOf({ client, namespace }: Workbench): Promise<string | undefined> {
  return (await client.get(configMaps, { namespace, name: "there" })).data?.["a"];
}

describe("an approval covers exactly what the preview showed", () => {
  test.each(["digest", "bare"])(
    "[security/97] not a ConfigMap that was changed since, which has no generation (%s approval)",
    async (sort) => {
      await using bench = await setUpWorkbench({ isOperating: false });
      const operator = await bench.operate();
      const { client, namespace } = bench;
      await client.create(configMaps, aConfigMap({ name: "there", namespace, data: { a: "0" } }));
      await bench.create(bench.plan("p", stages, manual));
      const first = await bench.inPhase("p", "AwaitingApproval");
      const old = first.status?.preview?.digest;
      expect(first.status?.preview?.adopt).toBe(1);
      // A bare approval covers the preview that the status shows: it must not be a new one by then.
      await operator.stop();
      await edit(bench, "precious");
      const approvedPreview = sort === "digest" ? { approvedPreview: old } : {};
      await bench.patchPlan("p", { spec: { approved: true, ...approvedPreview } });
      await bench.operate();
      const requested = await bench.until("p", ({ preview }) => preview?.digest !== old);
      expect(requested.status).toMatchObject({ phase: "AwaitingApproval" });
      expect(conditionOf(requested.status, "Approved")?.status).toBe("False");
      await bystanderInstalls(bench);
      expect(await valueOf(bench)).toBe("precious");
      // Also the next preview needs its own approval, by its digest.
      await edit(bench, "still precious");
      await bench.patchPlan("p", { metadata: { labels: { touched: "yes" } } });
      const again = await bench.until(
        "p",
        ({ preview }) => preview?.digest !== requested.status?.preview?.digest,
      );
      expect(again.status).toMatchObject({ phase: "AwaitingApproval" });
      await bench.patchPlan("p", { spec: { approvedPreview: again.status?.preview?.digest } });
      await bench.installed("p");
      expect(await valueOf(bench)).toBe("planned");
    },
  );

  test("a plan that is created with approved: true approves its first preview", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", stages, { ...manual, approved: true }));
    const { status } = await bench.installed("p");
    expect(status?.approvedPreview).toBe(status?.preview?.digest);
  });

  test("[security/97] not an object that appears under a name of the plan after the start", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const [later] = stages;
    await bench.create(bench.plan("p", [{ name: "first", resources: [gated("gate")] }, later], manual));
    const { status } = await bench.inPhase("p", "AwaitingApproval");
    await bench.patchPlan("p", { spec: { approved: true, approvedPreview: status?.preview?.digest } });
    await bench.until("p", ({ stage }) => stage === "first");
    await client.create(configMaps, aConfigMap({ name: "there", namespace, data: { a: "precious" } }));
    await bench.openGate("gate");
    const failed = await bench.inPhase("p", "Failed");
    expect(failed.status?.message).toContain("did not exist in this form when the plan was approved");
    await bystanderInstalls(bench);
    expect(await valueOf(bench)).toBe("precious");
  });

  test("[security/97] and needs the permission approve, at creation and later", async () => {
    await using bench = await setUpWorkbench();
    await enforcePolicy(bench, "installplan-approval.yaml");
    const edits = { apiGroups: ["install.quartermaster.dev"], resources: ["installplans"], verbs: ["patch"] };
    const mallory = await letMalloryIn(bench, { rules: [edits] });
    const approved = mallory.plan("approved", stages, { ...manual, approved: true });
    const refusal = await eventually(async () => {
      const attempt = mallory.client.create(installPlan.kind, approved, { dryRun: true });
      return await attempt.then(
        () => undefined,
        (error: unknown) => error as Error,
      );
    });
    expect(refusal.message).toContain("may not approve plan approved");
    await expect(mallory.create(approved)).rejects.toMatchObject({ class: "forbidden" });
    await mallory.create(mallory.plan("p", stages, manual));
    const change = async (body: object): Promise<unknown> =>
      await mallory.client.patch(
        installPlan.kind,
        { namespace: bench.namespace, name: "p" },
        { patch: { kind: "merge", body } },
      );
    await expect(change({ spec: { approved: true } })).rejects.toMatchObject({ class: "forbidden" });
    await expect(change({ spec: { approvedPreview: "x" } })).rejects.toMatchObject({ class: "forbidden" });
    await change({ metadata: { labels: { harmless: "yes" } } });
    await bystanderInstalls(bench);
    await bench.create(bench.plan("allowed", stages, { ...manual, approved: true }));
    await bench.installed("allowed");
  });
});

const from = { apiVersion: "v1", kind: "ConfigMap", allowUnowned: true };
const toNew = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };

async function make(bench: Workbench, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await bench.client.create(configMaps, aConfigMap({ name, namespace: bench.namespace, labels }));
}

async function names(bench: Workbench): Promise<readonly string[]> {
  const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace });
  return items.map(({ metadata }) => metadata.name);
}

async function approve(bench: Workbench): Promise<void> {
  const { status } = await bench.inPhase("p", "AwaitingApproval");
  await bench.patchPlan("p", { spec: { approved: true, approvedPreview: status?.preview?.digest } });
}

describe("what transformations delete is fixed when the plan starts", () => {
  test.each(["Manual", "Automatic"])(
    "[security/97] after the start of a plan with %s approval, new matches are left alone and reported",
    async (approval) => {
      await using bench = await setUpWorkbench();
      await make(bench, "old", { app: "old" });
      const transformations = [{ name: "t", from: { ...from, labelSelector: "app=old" }, to: toNew }];
      const gatedStages = [{ name: "s", wait: "Applied", resources: [gated("new")] }];
      await bench.create(bench.plan("p", gatedStages, { approval, transformations }));
      if (approval === "Manual") await approve(bench);
      await bench.inPhase("p", "Finishing");
      await make(bench, "bystanders", { app: "old" });
      await bystanderInstalls(bench);
      await bench.openGate("new");
      await bench.installed("p");
      expect(await names(bench)).toContain("bystanders");
      expect(await names(bench)).not.toContain("old");
      const reported = await eventually(async () =>
        (await bench.events("p")).find(({ reason }) => reason === "NotPreviewed"),
      );
      expect(reported.note).toContain("bystanders");
    },
  );
});
