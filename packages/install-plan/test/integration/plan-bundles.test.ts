import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { installPlan, type InstallPlan, resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { type Client, Discovery, type Kind, type KubeObject, realSystem } from "@quartermaster/runtime";
import { eventually, type LocalCluster, startLocalCluster, type Connection } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pack, readYaml } from "../../src/offline/index.ts";
import { isLabelledBy, planIdLabel } from "../../src/ownership/owner-labels.ts";
import { serviceAccounts } from "../support/kinds.ts";
import { makeAdministrator, operateAlone } from "../support/own-cluster.ts";

const repository = join(import.meta.dirname, "../../../..");
const directory = join(realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"), "bundles");
const minuteMs = 60_000;
const namespace = "default";

let cluster: LocalCluster;
let link: Connection;

describe.skipIf(!existsSync(directory))("whole bundles of others (fixtures not present: skipped)", () => {
  beforeAll(async () => {
    cluster = await startLocalCluster({ kwokNodes: 3 });
    link = await operateAlone(cluster);
    await makeAdministrator(link);
  }, 2 * minuteMs);

  afterAll(async () => {
    await link[Symbol.asyncDispose]();
    await cluster.stop();
  }, minuteMs);

  test.each([
    // Smaller than the last, and of the same sorts.
    ...(process.env["QM_CAMPAIGN"] === "1"
      ? [
          { title: "metallb-native", name: "metallb-native" },
          { title: "argo-cd", name: "argo-cd" },
        ]
      : []),
    { title: "[install-plan/17] kube-prometheus", name: "kube-prometheus" },
  ])(
    "$title is installed, repaired, handed over to a changed copy and deleted; nothing is lost, nothing is left",
    { timeout: 8 * minuteMs },
    async ({ name }) => {
      const documents = readYaml(readFileSync(join(directory, `${name}.yaml`), "utf8")).documents.map(
        ({ value, index }) => ({ value, source: `document ${index + 1}` }),
      );
      const before = await create(`${name}-1`, documents, []);
      const first = await installed(`${name}-1`, before);
      expect((await owned(first)).length).toBe(before);
      expect(JSON.stringify(first).length).toBeLessThan(isLarge(documents) ? 64 * 1024 : 512 * 1024);
      await drift(first);

      const uids = new Map(
        (await owned(first)).map(({ kind, metadata }) => [
          `${kind}/${metadata.namespace ?? ""}/${metadata.name}`,
          metadata.uid,
        ]),
      );
      const dropped = documents.findLastIndex(({ value }) =>
        /^(?:ConfigMap|Service|NetworkPolicy)$/.test((value as KubeObject).kind),
      );
      const changed = documents.toSpliced(dropped, 1);
      const after = await create(`${name}-2`, changed, [`${name}-1`]);
      const second = await installed(`${name}-2`, after);
      await eventually(async () => (await read(`${name}-1`)).status?.phase === "Superseded");
      const kept = await owned(second);
      expect(kept.length).toBe(before - 1);
      for (const { kind, metadata } of kept)
        expect(uids.get(`${kind}/${metadata.namespace ?? ""}/${metadata.name}`)).toBe(metadata.uid);

      await link.client.delete(installPlan.kind, { namespace, name: `${name}-2` });
      await link.client.delete(installPlan.kind, { namespace, name: `${name}-1` });
      await eventually(
        async (see) => {
          const left = await link.client.find(installPlan.kind, { namespace, name: `${name}-2` });
          see(left?.status);
          return left === undefined;
        },
        { withinMs: 2 * minuteMs },
      );
      expect(await owned(second)).toEqual([]);
    },
  );
});

type Documents = Parameters<typeof pack>[0];

async function create(name: string, documents: Documents, replaces: readonly string[]): Promise<number> {
  const packed = pack(documents, { name, namespace, serviceAccountName: "installer", replaces });
  expect(packed.issues).toEqual([]);
  for (const manifest of packed.manifests as unknown as readonly ResourceManifest[])
    await link.client.apply(resourceManifest.kind, manifest, { fieldManager: "tests", force: true });
  const stages = packed.plan.spec.stages.map((stage) => ({
    ...stage,
    // No pod of this control plane answers requests: what asks one cannot get ready.
    resources: stage.resources.map((resource) =>
      readsPods(resource) ? { ...resource, readiness: { mode: "Ignore" } } : resource,
    ),
  }));
  const plan = { ...packed.plan, spec: { ...packed.plan.spec, stages } };
  await link.client.create(installPlan.kind, plan as unknown as InstallPlan);
  return stages.flatMap(({ resources }) => resources).length;
}

function readsPods(resource: object): boolean {
  return /"kind":"(?:APIService|ValidatingWebhookConfiguration|MutatingWebhookConfiguration)"/.test(
    JSON.stringify(resource),
  );
}

/** Too large for one object of the API server: the plan itself must stay small. */
function isLarge(documents: readonly object[]): boolean {
  return JSON.stringify(documents).length > 2 ** 20;
}

async function read(name: string): Promise<InstallPlan> {
  return await link.client.get(installPlan.kind, { namespace, name });
}

async function installed(name: string, total: number): Promise<InstallPlan> {
  return await eventually(
    async (see) => {
      const plan = await read(name);
      see({ ...plan.status, conditions: undefined, preview: undefined });
      const isReady = plan.status?.conditions?.some(
        ({ type, status }) => type === "Ready" && status === "True",
      );
      return isReady === true && plan.status?.counts?.total === total ? plan : undefined;
    },
    { withinMs: 2 * minuteMs },
  );
}

/** Every object in the cluster that bears the plan's mark. */
async function owned({ metadata }: InstallPlan): Promise<readonly KubeObject[]> {
  const discovery = new Discovery(link.transport, realSystem());
  const kinds = (await discovery.all()).filter(
    ({ verbs, group }) => verbs.includes("list") && group !== "metrics.k8s.io",
  );
  const found = new Map<string, KubeObject>();
  for (const kind of kinds)
    for (const object of await listLabelled(link.client, kind)) found.set(object.metadata.uid ?? "", object);
  // Controllers copy labels to what they make: a Service's to its EndpointSlices. Those are no one's.
  return [...found.values()].filter((object) => isLabelledBy(object, metadata));
}

async function listLabelled(client: Client, kind: Kind): Promise<readonly KubeObject[]> {
  try {
    const { items } = await client.listPage(kind, { labelSelector: planIdLabel, pageSize: 500 });
    return items;
  } catch {
    return [];
  }
}

/** One object is deleted, another one changed: both come back. */
async function drift(plan: InstallPlan): Promise<void> {
  const objects = await owned(plan);
  const lost = objects.find(({ kind }) => kind === "ServiceAccount");
  const bent = objects.find(({ kind }) => kind === "Deployment");
  if (lost === undefined || bent === undefined) throw new Error("the bundle has neither");
  const deployments = {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    scope: "Namespaced" as const,
  };
  await link.client.delete(serviceAccounts, lost.metadata);
  await link.client.patch(deployments, bent.metadata, {
    patch: {
      kind: "merge",
      body: {
        spec: {
          selector: { matchLabels: {} },
          template: { spec: { serviceAccountName: "other", serviceAccount: "other" } },
        },
      },
    },
    fieldManager: "kubectl-edit",
  });
  await eventually(async () => (await link.client.find(serviceAccounts, lost.metadata)) !== undefined);
  await eventually(
    async () =>
      !JSON.stringify(await link.client.get(deployments, bent.metadata)).includes(
        '"serviceAccountName":"other"',
      ),
  );
}
