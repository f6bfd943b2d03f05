import { installPlan, planAnnotations } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { connect, eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { configMaps, serviceAccounts } from "../support/kinds.ts";
import { configMap, job } from "../support/manifests.ts";
import { enforcePolicy } from "../support/policy.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const makesPlans = {
  apiGroups: ["install.quartermaster.dev"],
  resources: ["installplans"],
  verbs: ["create", "get", "patch", "delete"],
};

/** Deletes the plan's account and makes it again; its bindings are by name and hold. */
async function recreateAccount({ client, namespace, account: name }: Workbench): Promise<string> {
  await client.delete(serviceAccounts, { namespace, name });
  const metadata = { namespace, name };
  const made = await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  return made.metadata.uid;
}

function annotated(annotation: string, value: string | null): object {
  return { metadata: { annotations: { [annotation]: value } } };
}

async function untilReplaced(bench: Workbench): Promise<void> {
  const reason = "ServiceAccountReplaced";
  const { status } = await bench.until("p", (now) => conditionOf(now, "Authorized")?.reason === reason);
  expect(status?.phase).toBe("Degraded");
}

/** Waits until the server refuses each patch of another client who may not act as the account. */
async function untilRefused(bench: Workbench, bodies: readonly object[]): Promise<void> {
  const { api, adminAccess, namespace } = bench;
  const other = await makeIdentity(api, adminAccess, { namespace, name: "other", rules: [makesPlans] });
  await using link = connect(other);
  const refusal = async (body: object): Promise<string> => {
    const patch = { kind: "merge", body } as const;
    try {
      await link.client.patch(installPlan.kind, { namespace, name: "p" }, { patch, dryRun: true });
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  for (const body of bodies)
    await eventually(async () => (await refusal(body)).includes("may not impersonate"));
}

/** Another client who may act as the plan's account. */
async function patchAsTrustee(bench: Workbench, body: object): Promise<void> {
  const { api, adminAccess, namespace, account } = bench;
  const impersonates = { ...coreRule("serviceaccounts", "impersonate"), resourceNames: [account] };
  const rules = [makesPlans, impersonates];
  const trustee = await makeIdentity(api, adminAccess, { namespace, name: "trustee", rules });
  await using link = connect(trustee);
  const patch = { kind: "merge", body } as const;
  await link.client.patch(installPlan.kind, { namespace, name: "p" }, { patch });
}

describe("what a user confirms about a plan", () => {
  test("[install-plan/129] a recreated account is trusted when a user who may act as it says so, and a policy sees to that", async () => {
    await using bench = await setUpWorkbench();
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("p");
    const uid = await recreateAccount(bench);
    await untilReplaced(bench);
    // Without the policy anybody could have written that.
    await bench.patchPlan("p", annotated(planAnnotations.trust, uid));
    await bench.until("p", ({ message = "" }) => message.includes("installplan-confirmations.yaml"));
    await bench.patchPlan("p", annotated(planAnnotations.trust, null));
    await enforcePolicy(bench, "installplan-confirmations.yaml");
    await untilRefused(bench, [
      annotated(planAnnotations.trust, uid),
      annotated(planAnnotations.retry, "now"),
    ]);
    await patchAsTrustee(bench, annotated(planAnnotations.trust, uid));
    const trusted = await bench.installed("p");
    expect(trusted.status?.serviceAccountUid).toBe(uid);
    await bench.client.delete(configMaps, { namespace: bench.namespace, name: "c" });
    await eventually(
      async () =>
        (await bench.client.find(configMaps, { namespace: bench.namespace, name: "c" })) !== undefined,
    );
    // It was said of that one, and of no other.
    await recreateAccount(bench);
    await untilReplaced(bench);
  });
});

/** As a backup tool restores an object: without what the server had given it. */
function asRestored<O extends KubeObject>(object: O): O {
  const { name, namespace, labels, annotations } = object.metadata;
  const { status: _status, ...kept } = object as O & { readonly status?: unknown };
  const metadata = { name, namespace, ...(labels === undefined ? {} : { labels }), annotations };
  return { ...kept, metadata } as unknown as O;
}

describe("a plan that was restored from a backup", () => {
  test("[install-plan/130] takes its objects back when a user who may act as its account says so, never by labels alone", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const ref = { namespace, name: "c" };
    const stage = { name: "s", resources: [configMap("c")], jobs: [job("migrate")] };
    await bench.create(bench.plan("p", [stage]));
    const backup = { plan: await bench.installed("p"), object: await client.get(configMaps, ref) };
    await bench.deletePlan("p");
    await eventually(
      async () => (await client.find(installPlan.kind, { namespace, name: "p" })) === undefined,
    );
    const restored = await client.create(configMaps, asRestored(backup.object), { fieldManager: "velero" });
    const position = await bench.audit.position();
    const { uid = "" } = (await bench.create(asRestored(backup.plan))).metadata;
    const { status } = await bench.inPhase("p", "Invalid");
    expect(status?.message).toContain("run qm plan restore");
    await bench.patchPlan("p", annotated(planAnnotations.restore, uid));
    await bench.until("p", ({ message = "" }) => message.includes("installplan-confirmations.yaml"));
    await bench.patchPlan("p", annotated(planAnnotations.restore, null));
    await enforcePolicy(bench, "installplan-confirmations.yaml");
    await untilRefused(bench, [annotated(planAnnotations.restore, uid)]);
    expect(await bench.writes(position)).toEqual([]);
    await patchAsTrustee(bench, annotated(planAnnotations.restore, uid));
    const after = await bench.installed("p");
    expect(after.status).toMatchObject({ restored: uid, jobs: [{ state: "Succeeded" }] });
    expect((await client.get(configMaps, ref)).metadata.uid).toBe(restored.metadata.uid);
    expect((await bench.writes(position)).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      "patch configmaps",
    ]);
    await bench.deletePlan("p");
    await eventually(async () => (await client.find(configMaps, ref)) === undefined);
  });
});
