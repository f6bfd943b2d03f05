import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { subscriptionDomain } from "@quartermaster/subscription";
import {
  eventually,
  type Identity,
  joinSharedCluster,
  makeIdentity,
  makeNamespace,
  WRITING_VERBS,
} from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { Operator } from "../support/operator.ts";

const group = "/apis/subscription.openshift.io/v1alpha1";

test("[subscription-injection/AC-F13] of two replicas one writes, and the other takes over within 20 s of a crash", async () => {
  using cluster = joinSharedCluster();
  const { api } = cluster;
  await using namespace = await makeNamespace(api, "replicas");
  await using directory = await temporary();
  const accounts = await Promise.all(
    ["one", "two"].map(
      async (name) =>
        await makeIdentity(api, cluster.admin, {
          namespace: namespace.name,
          name,
          rules: [
            { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
          ],
          clusterRules: subscriptionDomain()
            .permissions.filter(({ role = "controllers" }) => role === "controllers")
            .map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs })),
        }),
    ),
  );
  const start = async (account: Identity): Promise<Operator> =>
    new Operator([
      `--kubeconfig=${await saveAccess(account, join(directory.path, account.user))}`,
      `--identity=${account.user}`,
      `--lease-namespace=${namespace.name}`,
      `--watch-namespace=${namespace.name}`,
      "--domains=subscription",
      "--metrics-port=0",
      "--metrics-host=127.0.0.1",
    ]);
  await using stack = new AsyncDisposableStack();
  const position = await cluster.audit.position();
  const replicas = new Map<string, Operator>();
  for (const account of accounts) replicas.set(account.user, stack.use(await start(account)));
  const bundles = `${group}/namespaces/${namespace.name}/bundles`;
  const make = async (name: string): Promise<void> => {
    const spec = { entitlements: [{ name: "absent" }] };
    const head = { apiVersion: "subscription.openshift.io/v1alpha1", kind: "Bundle", metadata: { name } };
    await api.send({ method: "POST", path: bundles, body: { ...head, spec } });
    await eventually(
      async (see) => see((await api.send({ path: `${bundles}/${name}` })).body).includes("ReferenceNotFound"),
      { withinMs: 20_000 },
    );
  };
  const writers = async (name: string): Promise<readonly string[]> => {
    const entries = await cluster.audit.since(position, { namespace: namespace.name });
    const own = entries.filter(
      (entry) => entry.resource === "bundles" && entry.name === name && WRITING_VERBS.includes(entry.verb),
    );
    const users = new Set(own.map(({ user }) => user));
    return [...users].filter((user) => replicas.has(user));
  };
  await make("first");
  const [writer = "", ...others] = await eventually(async () => {
    const found = await writers("first");
    return found.length === 0 ? undefined : found;
  });
  expect(others).toEqual([]);
  // Killed, it cannot give its lease back: it has to run out.
  await replicas.get(writer)?.[Symbol.asyncDispose]();
  await make("second");
  await eventually(async (see) => see(await writers("second")).length === 1);
  expect(await writers("second")).not.toContain(writer);
});

async function temporary(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "replicas-"));
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true }) };
}

async function saveAccess({ server, caPem, token }: Identity, path: string): Promise<string> {
  const cluster = { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user: { token } }],
  };
  await writeFile(path, JSON.stringify(content));
  return path;
}
