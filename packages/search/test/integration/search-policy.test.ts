import { openSearchCluster } from "@quartermaster/api";
import {
  ApiError,
  type Client,
  createClient,
  createTransport,
  type Kind,
  type KubeObject,
  realSystem,
} from "@quartermaster/runtime";
import { persistentVolumeClaims, secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { ownerAnnotations, ownerLabels } from "../../src/owner-labels.ts";
import { enforcePolicy } from "../support/policy.ts";
import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

/** What the API server says against it; undefined when it allows it. */
async function refusal(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return error.message;
    throw error;
  }
}

/** Another client who may do everything in the namespace, and nothing elsewhere. */
async function tenantOf({ cluster, namespace }: SearchBench, stack: AsyncDisposableStack): Promise<Client> {
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  const { server, caPem, token } = await makeIdentity(cluster.api, cluster.admin, { namespace, rules });
  const fixed = <T>(value: T): { current(): T; refresh(): Promise<T> } => ({
    current: () => value,
    refresh: async () => await Promise.resolve(value),
  });
  const transport = stack.use(
    createTransport({
      config: {
        server,
        tls: { cas: fixed<string | undefined>(caPem), insecure: false },
        credentials: fixed({ token }),
        namespace,
        contextName: "tenant",
      },
      system: realSystem(),
    }),
  );
  return createClient({ transport });
}

const merge = (body: object): { readonly patch: { readonly kind: "merge"; readonly body: object } } => ({
  patch: { kind: "merge", body },
});

describe("who may mark Secrets and volumes", () => {
  test("the operator and the StatefulSet controller work as before; tenants change neither marks nor keys", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch({ isOperating: false }));
    const { namespace } = bench;
    const tenant = await tenantOf(bench, stack);
    stack.use(await enforcePolicy(bench, "search-marks.yaml"));
    const labels = { [ownerLabels.cluster]: "logs", [ownerLabels.uid]: "forged" };
    const forged = (name: string): KubeObject & { readonly stringData: Record<string, string> } => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace, labels },
      stringData: { "tls.key": "theirs" },
    });
    // A new policy takes a moment to be in force. What the server says about Secrets is not repeated by our client.
    await eventually(
      async (see) =>
        see(await refusal(async () => await tenant.create(secrets, forged("logs-ca"), { dryRun: true }))) !==
        undefined,
    );

    await bench.operate();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    const at = (name: string): { readonly namespace: string; readonly name: string } => ({ namespace, name });
    const claim = at("data-logs-nodes-0");
    expect((await bench.client.get(persistentVolumeClaims, claim)).metadata.labels).toHaveProperty(
      ownerLabels.uid,
    );

    const patchOf =
      (kind: Kind, name: string, body: object): (() => Promise<unknown>) =>
      async () =>
        await tenant.patch(kind, at(name), merge(body));
    const password = Buffer.from("a-Long-and-Winding-0road").toString("base64");
    const key = { data: { "tls.key": password } };
    const denied = {
      "another uid on a claim": patchOf(persistentVolumeClaims, claim.name, { metadata: { labels } }),
      "no uid on a claim": patchOf(persistentVolumeClaims, claim.name, {
        metadata: { labels: { [ownerLabels.uid]: null } },
      }),
      "another engine's UUID": patchOf(persistentVolumeClaims, claim.name, {
        metadata: { annotations: { [ownerAnnotations.engineUuid]: "theirs" } },
      }),
      "a mark on the authority": patchOf(secrets, "logs-ca", { metadata: { labels } }),
      "the key of the authority": patchOf(secrets, "logs-ca", key),
      "the key of a leaf": patchOf(secrets, "logs-http-cert", key),
      "text for a key": patchOf(secrets, "logs-ca", { stringData: { "tls.key": "theirs" } }),
      "a Secret that pretends": async () => await tenant.create(secrets, forged("other-ca")),
    };
    for (const [what, act] of Object.entries(denied)) {
      const output = await refusal(act);
      expect({ what, isRefused: output !== undefined, output }).toMatchObject({ what, isRefused: true });
    }
    const allowed = {
      "other labels of a claim": patchOf(persistentVolumeClaims, claim.name, {
        metadata: { labels: { team: "a" }, annotations: { note: "b" } },
      }),
      "other labels of a Secret": patchOf(secrets, "logs-ca", { metadata: { labels: { team: "a" } } }),
      "the password": patchOf(secrets, "logs-admin-password", { data: { password } }),
      "a Secret of their own": async () =>
        await tenant.create(secrets, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "mine", namespace },
          stringData: { a: "b" },
        }),
    };
    for (const [what, act] of Object.entries(allowed))
      expect({ what, output: await refusal(act) }).toEqual({ what, output: undefined });
    await bench.until("logs", isReady);
  });

  test("a StatefulSet of a tenant cannot have the controller make marked claims", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch({ isOperating: false }));
    const { namespace } = bench;
    const tenant = await tenantOf(bench, stack);
    stack.use(await enforcePolicy(bench, "search-marks.yaml"));
    const set = (labels: Record<string, string>): KubeObject & { readonly spec: object } => ({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "theirs", namespace },
      spec: {
        serviceName: "theirs",
        replicas: 0,
        selector: { matchLabels: { app: "theirs" } },
        template: {
          metadata: { labels: { app: "theirs" } },
          spec: { containers: [{ name: "main", image: "none" }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: "data", labels },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    });
    const kind = statefulSets as Kind;
    await eventually(async (see) =>
      see(
        await refusal(
          async () => await tenant.create(kind, set({ [ownerLabels.uid]: "forged" }), { dryRun: true }),
        ),
      )?.includes("may not create a StatefulSet"),
    );
    expect(await refusal(async () => await tenant.create(kind, set({ app: "theirs" })))).toBeUndefined();
  });
});

describe("who may write a status", () => {
  test("a tenant who may do everything in the namespace may not forge one; the operator writes it", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch({ isOperating: false }));
    const { namespace } = bench;
    const tenant = await tenantOf(bench, stack);
    stack.use(await enforcePolicy(bench, "search-status.yaml"));
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    const forge = async (): Promise<unknown> =>
      await tenant.patch(
        openSearchCluster.kind,
        { namespace, name: "logs" },
        { ...merge({ status: { clusterUuid: "forged" } }), subresource: "status", dryRun: true },
      );
    await eventually(async (see) =>
      see(await refusal(forge))?.includes("may not write the status of opensearchclusters"),
    );
    await bench.operate();
    await bench.until("logs", isReady);
  });
});

describe("protection from deletion", () => {
  test("[search/SC-104] a protected cluster is not deleted, alone or with all others; an unprotected one is", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch({ isOperating: false }));
    const { client, namespace } = bench;
    stack.use(await enforcePolicy(bench, "search-deletion-protection.yaml"));
    const protection = (deletionProtection: boolean): object =>
      aCluster("logs", { spec: { operations: { deletionProtection } } });
    await bench.apply(protection(true));
    const remove = async (): Promise<void> =>
      await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    const removeAll = async (): Promise<void> => {
      const path = `/apis/opensearch.org/v1/namespaces/${namespace}/opensearchclusters`;
      const { status, body } = await bench.cluster.api.send({ method: "DELETE", path });
      if (status !== 200) throw new Error(body);
    };
    await eventually(async (see) => {
      // Until the policy is in force the deletion would happen: asked without carrying it out.
      const path = `/apis/opensearch.org/v1/namespaces/${namespace}/opensearchclusters/logs?dryRun=All`;
      return see(await bench.cluster.api.send({ method: "DELETE", path })).status === 403;
    });
    expect(await refusal(remove)).toContain("search cluster logs is protected from deletion");
    await expect(removeAll()).rejects.toThrow("is protected from deletion");
    expect((await bench.get("logs")).metadata.deletionTimestamp).toBeUndefined();
    await bench.apply(protection(false));
    await remove();
    expect(await client.find(openSearchCluster.kind, { namespace, name: "logs" })).toBeUndefined();
  });
});
