import { randomBytes } from "node:crypto";

import { kinds } from "@quartermaster/api";
import type { ApiClient } from "@quartermaster/local-cluster";

/** A namespace of the test's own. Disposing of it removes what would continue working, and leaves the namespace. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}

/**
 * Objects of ours, then what acts on its own, then what adds up and is looked at by others: owners first, so that nothing is made again.
 * ConfigMaps stay: no one looks at those of others, and some tests make 10,000.
 */
const collections = [
  ...kinds.flatMap(({ kind: { scope, group, version, plural } }) =>
    scope === "Namespaced" ? [{ root: `/apis/${group}/${version}`, plural }] : [],
  ),
  ...["deployments", "statefulsets", "daemonsets", "replicasets"].map(below("/apis/apps/v1")),
  ...["jobs", "cronjobs"].map(below("/apis/batch/v1")),
  ...["pods", "services", "secrets", "persistentvolumeclaims"].map(below("/api/v1")),
];

function below(root: string) {
  return (plural: string) => ({ root, plural });
}

/**
 * Makes a namespace that no other test has. `stem` says which test it belongs to. It is never deleted, because it goes with the run's
 * control plane: to delete a namespace, Kubernetes requests every kind that there is, some 250 requests, and again and again while
 * something in it has a finalizer of an operator that runs no more. That was up to two thirds of all requests.
 */
export async function makeNamespace(api: ApiClient, stem = "test"): Promise<TestNamespace> {
  const name = `${stem}-${randomBytes(4).toString("hex")}`;
  await api.apply(`/api/v1/namespaces/${name}`, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      for (const { root, plural } of collections)
        await api.send({ method: "DELETE", path: `${root}/namespaces/${name}/${plural}`, timeoutMs: 60_000 });
    },
  };
}
