import { bundle, installPlan, openSearchCluster } from "@quartermaster/api";
import { type Client, defineKind } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";

/** How long each took, in milliseconds. */
export interface Served {
  readonly plan: number;
  readonly bundle: number;
  readonly cluster: number;
}

const rbac = "rbac.authorization.k8s.io";
const serviceAccounts = defineKind({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  scope: "Namespaced",
});
const clusterRoleBindings = defineKind({
  group: rbac,
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
});
const account = "installer";

/** An account for plans that may do everything. */
export async function administrator(client: Client, namespace: string): Promise<void> {
  const metadata = { namespace, name: account };
  await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
  await client.create(clusterRoleBindings, {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...metadata }],
  } as never);
}

let made = 0;

/** A plan is installed, a bundle judged and an edit of the cluster `quiet` answered, all at the same time. */
export async function serveBystanders(client: Client, namespace: string): Promise<Served> {
  made += 1;
  const name = `b${String(made)}`;
  const [plan, aBundle, cluster] = await Promise.all([
    took(async () => await servePlan(client, namespace, name)),
    took(async () => await serveBundle(client, namespace, name)),
    took(async () => await serveCluster(client, namespace)),
  ]);
  return { plan, bundle: aBundle, cluster };
}

async function took(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return Math.round(performance.now() - begun);
}

async function servePlan(client: Client, namespace: string, name: string): Promise<void> {
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } };
  await client.create(installPlan.kind, {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { namespace, name },
    spec: { serviceAccountName: account, stages: [{ name: "only", resources: [{ manifest }] }] },
  } as never);
  await eventually(async (see) => {
    const { status } = await client.get(installPlan.kind, { namespace, name });
    return see(status)?.phase === "Installed";
  }, wait);
}

async function serveBundle(client: Client, namespace: string, name: string): Promise<void> {
  await client.create(bundle.kind, {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "Bundle",
    metadata: { namespace, name },
    spec: { entitlements: [{ name: "absent" }] },
  } as never);
  await eventually(async (see) => {
    const { status } = await client.get(bundle.kind, { namespace, name });
    return JSON.stringify(see(status) ?? {}).includes("ReferenceNotFound");
  }, wait);
}

async function serveCluster(client: Client, namespace: string): Promise<void> {
  const patch = { kind: "merge", body: { spec: { operations: { paused: made % 2 === 0 } } } } as const;
  const ref = { namespace, name: "quiet" };
  const { metadata } = await client.patch(openSearchCluster.kind, ref, { patch });
  await eventually(async (see) => {
    const { status } = await client.get(openSearchCluster.kind, ref);
    return see(status)?.observedGeneration === metadata.generation;
  }, wait);
}

const wait = { withinMs: 60_000, everyMs: 50 };
