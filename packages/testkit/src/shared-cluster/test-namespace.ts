import { randomBytes } from "node:crypto";

import type { ApiClient } from "@quartermaster/local-cluster";

/** A namespace of the test's own; disposing of it asks for its deletion and does not wait. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}

/** How a namespace is left. */
export interface TestNamespaceOptions {
  /**
   * Kinds of ours, as `group/version/plural`, that are deleted at the end together with workloads and with what adds up, while the
   * namespace stays (default: the namespace is deleted). To delete it, Kubernetes asks for every kind that there is, some 180 requests;
   * of five files with many small tests that was more than half of all requests.
   */
  readonly emptiedOf?: readonly string[];
}

/** What acts by itself, and what tests make by the hundred. */
const collections = [
  ...["deployments", "statefulsets", "daemonsets", "replicasets"].map((plural) => `apps/v1/${plural}`),
  ...["jobs", "cronjobs"].map((plural) => `batch/v1/${plural}`),
  ...["pods", "services", "configmaps", "secrets", "persistentvolumeclaims"].map((plural) => `v1/${plural}`),
];

/** Makes a namespace that no other test has. `stem` says which test it belongs to. */
export async function makeNamespace(
  api: ApiClient,
  stem = "test",
  { emptiedOf }: TestNamespaceOptions = {},
): Promise<TestNamespace> {
  const name = `${stem}-${randomBytes(4).toString("hex")}`;
  await api.apply(`/api/v1/namespaces/${name}`, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      if (emptiedOf === undefined) {
        await api.send({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
        return;
      }
      // Owners first, so that nothing is made again.
      for (const collection of [...emptiedOf, ...collections])
        await api.send({ method: "DELETE", path: collectionPath(collection, name) });
    },
  };
}

function collectionPath(collection: string, namespace: string): string {
  const [plural = "", version = "", group] = collection.split("/").toReversed();
  const root = group === undefined ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/namespaces/${namespace}/${plural}`;
}
