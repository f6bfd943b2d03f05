import { kinds } from "@quartermaster/api";
import {
  ApiClient,
  AuditLog,
  connect,
  eventually,
  type LocalCluster,
  type OperatorProcess,
  serveKinds,
  startLocalCluster,
  startOperator,
  WRITING_VERBS,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type } from "../support/user.ts";

/** The command is about the whole cluster: it has one of its own. */
let cluster: LocalCluster;
let api: ApiClient;
let audit: AuditLog;
let env: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  cluster = await startLocalCluster({ kwokNodes: 1, audit: "Metadata" });
  api = new ApiClient(cluster.admin);
  audit = new AuditLog(cluster.auditLogPath ?? "", api);
  env = { KUBECONFIG: cluster.kubeconfigPath };
  const { server, caPem, token = "" } = cluster.admin;
  await using admin = connect({ server, caPem, token });
  await serveKinds(
    admin.client,
    kinds.map(({ kind }) => kind),
  );
  await create("/api/v1/namespaces", { metadata: { name: "quartermaster" } });
}, 300_000);

afterAll(async () => {
  api?.[Symbol.dispose]();
  await cluster?.stop();
});

async function create(path: string, body: object): Promise<void> {
  const { status, body: text } = await api.send({ method: "POST", path, body });
  if (status !== 201) throw new Error(`${path}: ${String(status)} ${text}`);
}

async function read(path: string): Promise<{ readonly status: number; readonly body: string }> {
  return await api.send({ path });
}

const installGroup = "install.quartermaster.dev/v1alpha1";
const planIn = (namespace: string): string => `/apis/${installGroup}/namespaces/${namespace}/installplans`;
const clusterIn = (namespace: string): string =>
  `/apis/opensearch.org/v1/namespaces/${namespace}/opensearchclusters`;

/** A namespace with a plan that has installed a ConfigMap, and with a search cluster; the operator has put its finalizers. */
async function inhabited(name: string): Promise<void> {
  await create("/api/v1/namespaces", { metadata: { name } });
  await create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "installer" } });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/rolebindings`;
  await create(rbac, {
    metadata: { name: "installer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "installer", namespace: name }],
  });
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "installed" } };
  await create(planIn(name), {
    apiVersion: installGroup,
    kind: "InstallPlan",
    metadata: { name: "plan" },
    spec: { serviceAccountName: "installer", stages: [{ name: "only", resources: [{ manifest }] }] },
  });
  await create(clusterIn(name), {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "trial", finalizers: ["backup.example.org/keep"] },
    spec: {
      general: { serviceName: "trial", version: "2.19.4" },
      nodePools: [{ component: "nodes", replicas: 1, roles: ["cluster_manager", "data"], diskSize: "1Gi" }],
    },
  });
  await eventually(
    async (see) =>
      see((await read(`${planIn(name)}/plan`)).body).includes('"phase":"Installed"') &&
      see((await read(`${clusterIn(name)}/trial`)).body).includes("search.quartermaster.dev/cluster") &&
      see((await read(`/apis/apps/v1/namespaces/${name}/statefulsets`)).body).includes('"trial-nodes"'),
    { withinMs: 60_000 },
  );
}

async function operator(): Promise<OperatorProcess> {
  const { server, caPem, token = "" } = cluster.admin;
  const flags = ["--domains=install-plan,search", "--lease-namespace=quartermaster"];
  return await startOperator({ server, caPem, token }, flags);
}

test("qm uninstall releases workloads while the operator runs; --dry-run lists it and writes nothing", async () => {
  await using running = await operator();
  await inhabited("released");
  // Another client's finalizer would keep the search cluster.
  const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
  const finalizers = ["search.quartermaster.dev/cluster"];
  await api.send({ ...merge, path: `${clusterIn("released")}/trial`, body: { metadata: { finalizers } } });
  const position = await audit.position();
  const dry = await type(["uninstall", "--dry-run"], { env });
  expect(dry.out).toContain("would release installplans.install.quartermaster.dev released/plan");
  expect(dry.out).toContain("would release opensearchclusters.opensearch.org released/trial");
  const writes = await audit.since(position, { verbs: WRITING_VERBS });
  expect(writes.filter(({ userAgent }) => userAgent === "quartermaster").map(({ path }) => path)).toEqual([]);

  const refused = await type(["uninstall", "--release-finalizers"], { env });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringContaining("namespace quartermaster runs") as string,
  });

  const done = await type(["uninstall"], { env });
  expect(done.err).toBe("");
  expect(done.code).toBe(0);
  expect(done.out).toContain("released installplans.install.quartermaster.dev released/plan");
  expect((await read(`${planIn("released")}/plan`)).status).toBe(404);
  expect((await read(`${clusterIn("released")}/trial`)).status).toBe(404);
  expect((await read("/api/v1/namespaces/released/configmaps/installed")).status).toBe(200);
  const sets = await read("/apis/apps/v1/namespaces/released/statefulsets");
  expect(sets.body).toContain('"trial-nodes"');
  running.kill();
}, 240_000);

test("[packaging/PK-22] a namespace whose operator was removed waits, and qm uninstall --release-finalizers frees it within 10 s and says what it did", async () => {
  {
    await using _ = await operator();
    await inhabited("waiting");
  }
  await api.send({ method: "DELETE", path: "/api/v1/namespaces/waiting" });
  await eventually(
    async (see) => see((await read("/api/v1/namespaces/waiting")).body).includes("finalizers remaining"),
    {
      withinMs: 60_000,
    },
  );
  // The lease of an operator that was killed still looks held for a moment.
  const dry = await eventually(
    async (see) => {
      const output = see(await type(["uninstall", "--release-finalizers", "--dry-run"], { env }));
      return output.code === 0 ? output : undefined;
    },
    { withinMs: 60_000 },
  );
  expect(dry.out).toContain(
    "would release installplans.install.quartermaster.dev waiting/plan, which is being deleted",
  );
  expect((await read(`${planIn("waiting")}/plan`)).body).toContain("install.quartermaster.dev/clean-up");

  const done = await type(["uninstall", "--release-finalizers"], { env });
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.out).toContain("released installplans.install.quartermaster.dev waiting/plan");
  expect(done.out).toContain("released opensearchclusters.opensearch.org waiting/trial");
  // What another client holds is left to it.
  const held = await read(`${clusterIn("waiting")}/trial`);
  expect(held.body).toContain('"finalizers":["backup.example.org/keep"]');
  const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
  await api.send({
    ...merge,
    path: `${clusterIn("waiting")}/trial`,
    body: { metadata: { finalizers: null } },
  });
  await eventually(async () => (await read("/api/v1/namespaces/waiting")).status === 404, {
    withinMs: 10_000,
  });
}, 240_000);
