import { randomBytes } from "node:crypto";

import type { ApiClient } from "@quartermaster/local-cluster";
import type { Kind } from "@quartermaster/runtime";

/** A namespace of the test's own; disposing of it asks for its deletion and does not wait. */
export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}

/** How a namespace is left. */
export interface TestNamespaceOptions {
  /**
   * Kinds of ours that are deleted at the end together with workloads and with what adds up, while the namespace stays (default: the
   * namespace is deleted). To delete a namespace, Kubernetes asks for every kind that there is, some 250 requests, and again and
   * again while something in it has a finalizer of an operator that runs no more: that was up to two thirds of all requests.
   */
  readonly emptiedOf?: readonly Pick<Kind, "group" | "version" | "plural">[];
}

/** What acts by itself, and what tests make by the hundred. */
const collections = [
  ...["deployments", "statefulsets", "daemonsets", "replicasets"].map((plural) => ({
    group: "apps",
    plural,
  })),
  ...["jobs", "cronjobs"].map((plural) => ({ group: "batch", plural })),
  ...["pods", "services", "configmaps", "secrets", "persistentvolumeclaims"].map((plural) => ({
    group: "",
    plural,
  })),
].map((each) => ({ version: "v1", ...each }));

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
      for (const { group, version, plural } of [...emptiedOf, ...collections]) {
        const root = group === "" ? "/api" : `/apis/${group}`;
        await api.send({ method: "DELETE", path: `${root}/${version}/namespaces/${name}/${plural}` });
      }
    },
  };
}
