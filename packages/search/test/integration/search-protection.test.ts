import { openSearchCluster } from "@quartermaster/api";
import type { Kind, Live } from "@quartermaster/runtime";
import { namespaces, persistentVolumeClaims, secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually, makeIdentity, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { ownerLabels } from "../../src/owner-labels.ts";
import { searchPermissions } from "../../src/search-permissions.ts";
import { enforcePolicy } from "../support/policy.ts";
import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

const kept = {
  PersistentVolumeClaim: ["data-logs-nodes-0"],
  Secret: ["logs-admin-password", "logs-ca"],
} as const;
const allKept = Object.entries(kept).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`));

const logs = (isProtected: boolean, changes: Parameters<typeof aCluster>[1] = {}): object =>
  aCluster("logs", {
    pools: [aPool("nodes", 1)],
    ...changes,
    spec: { operations: { deletionProtection: isProtected } },
  });

/** Claims and Secrets of the namespace that nothing deletes, as `Kind name`, with their label. */
async function alive({ client, namespace }: SearchBench): Promise<ReadonlyMap<string, Live>> {
  const kinds: readonly Kind[] = [persistentVolumeClaims, secrets];
  const found = await Promise.all(
    kinds.map(async (kind) => await Array.fromAsync(client.list(kind, { namespace }))),
  );
  return new Map(
    found
      .flat()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((live) => [`${live.kind} ${live.metadata.name}`, live]),
  );
}

/** Until the API server refuses to delete what is protected. */
async function inForce({ cluster, namespace }: SearchBench): Promise<void> {
  for (const path of [
    `/api/v1/namespaces/${namespace}/secrets/logs-ca`,
    `/apis/opensearch.org/v1/namespaces/${namespace}/opensearchclusters/logs`,
  ])
    await eventually(
      async (see) =>
        see(await cluster.api.send({ method: "DELETE", path: `${path}?dryRun=All` })).status === 403,
    );
}

describe("[security/107] a protected cluster", () => {
  test("[security/107] keeps its claims, its CA and its passwords when its namespace is deleted; unprotected, they go", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch({ isOperating: false }));
    const { client, namespace, cluster } = bench;
    // The operator's own account is not in the namespace that goes.
    const home = stack.use(await makeNamespace(cluster.api, "operator"));
    const operator = await makeIdentity(cluster.api, cluster.admin, {
      namespace: home.name,
      clusterRules: searchPermissions.map(({ apiGroups, resources, verbs }) => ({
        apiGroups,
        resources,
        verbs,
      })),
    });
    for (const file of ["search-deletion-protection.yaml", "search-marks.yaml"])
      stack.use(await enforcePolicy(bench, file));
    await bench.operate(operator);
    await bench.apply(logs(true));
    await bench.until("logs", isReady);
    await inForce(bench);

    await client.delete(namespaces, { name: namespace });
    const failing = await eventually(
      async (see) => {
        const live = see(await client.get(namespaces, { name: namespace }));
        const set = await client.find(statefulSets, { namespace, name: "logs-nodes" });
        const text = JSON.stringify(live.status);
        return set === undefined && text.includes("protected from deletion") ? text : undefined;
      },
      { withinMs: 90_000 },
    );
    expect(failing).toContain("deletionProtection");
    const left = await alive(bench);
    expect([...left.keys()]).toEqual(expect.arrayContaining(allKept));
    expect((await bench.get("logs")).metadata.deletionTimestamp).toBeUndefined();

    await bench.apply(logs(false));
    await eventually(async (see) => see(await client.find(namespaces, { name: namespace })) === undefined, {
      withinMs: 110_000,
    });
  }, 240_000);

  test("[security/107] no client deletes what is kept, one by one or all at once, also not an administrator", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch());
    const { client, namespace, cluster } = bench;
    stack.use(await enforcePolicy(bench, "search-deletion-protection.yaml"));
    await bench.apply(logs(true));
    await bench.until("logs", isReady);
    await inForce(bench);
    for (const path of [
      "persistentvolumeclaims/data-logs-nodes-0",
      "persistentvolumeclaims",
      "secrets/logs-ca",
      "secrets",
    ]) {
      const { status, body } = await cluster.api.send({
        method: "DELETE",
        path: `/api/v1/namespaces/${namespace}/${path}`,
      });
      expect({ path, status, body }).toMatchObject({ path, status: 403 });
      expect(body).toContain("belongs to search cluster logs, which is protected from deletion");
    }
    expect([...(await alive(bench)).keys()]).toEqual(expect.arrayContaining(allKept));

    // A client that lifts the protection and requests it gets everything deleted.
    await bench.apply(
      logs(false, { general: { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } } }),
    );
    await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    await eventually(async (see) => {
      const names = see([...(await alive(bench)).keys()]);
      return allKept.every((name) => !names.includes(name));
    });
  });

  test("[security/107] the protection follows the spec, also while the cluster is paused", async () => {
    await using bench = await setUpSearch();
    const labels = async (): Promise<readonly unknown[]> => {
      const found = await alive(bench);
      return allKept.map((name) => found.get(name)?.metadata.labels?.[ownerLabels.deletionProtected]);
    };
    await bench.apply(logs(false));
    await bench.until("logs", isReady);
    expect(await labels()).toEqual([undefined, undefined, undefined]);
    const paused = { operations: { deletionProtection: true, paused: true } };
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)], spec: paused }));
    await eventually(async (see) => see(await labels()).every((label) => label === "true"));
    await bench.apply(logs(false));
    await eventually(async (see) => see(await labels()).every((label) => label === undefined));
  });

  test("[security/107] a claim of a removed node is deleted where the author requested it, protected or not", async () => {
    await using stack = new AsyncDisposableStack();
    const bench = stack.use(await setUpSearch());
    stack.use(await enforcePolicy(bench, "search-deletion-protection.yaml"));
    const policy = { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } };
    const withNodes = (replicas: number): object => logs(true, { pools: [aPool("nodes", replicas, policy)] });
    await bench.apply(withNodes(3));
    await bench.until("logs", isReady);
    await inForce(bench);
    await bench.apply(withNodes(2));
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 2);
    await eventually(async (see) => {
      const names = see([...(await alive(bench)).keys()]);
      return (
        !names.includes("PersistentVolumeClaim data-logs-nodes-2") &&
        names.includes("PersistentVolumeClaim data-logs-nodes-1")
      );
    });
  });
});
