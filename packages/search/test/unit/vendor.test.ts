import { describe, expect, test } from "vitest";

import { readCluster } from "../../src/model/read-cluster.ts";
import { readDeclaration } from "../../src/offline/read-declaration.ts";

function declared(apiVersion: string, vendor: string | undefined): unknown {
  return readDeclaration({
    apiVersion,
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team", uid: "u" },
    spec: {
      general: { serviceName: "logs", version: "2.19.4", ...(vendor === undefined ? {} : { vendor }) },
      nodePools: [{ component: "nodes", replicas: 1, diskSize: "1Gi", roles: ["cluster_manager", "data"] }],
    },
  });
}

/** What lanes read of it; undefined where its shape is refused. */
function clusterOf(apiVersion: string, vendor: string | undefined): unknown {
  const read = declared(apiVersion, vendor) as ReturnType<typeof readDeclaration>;
  return read.kind === "read" ? readCluster(read.object) : undefined;
}

describe.each(["opensearch.org/v1", "opensearch.opster.io/v1"])("the vendor in %s", (apiVersion) => {
  test.for<[string, string, boolean]>([
    ["[search/SC-04] Opensearch", "Opensearch", true],
    ["[search/SC-04] Op", "Op", true],
    ["[search/SC-04] OP", "OP", true],
    ["[search/SC-04] os, at which upstream's operator panics", "os", true],
    ["[search/SC-04] opensearch", "opensearch", true],
    ["[search/SC-04] any other word is refused", "Elastic", false],
  ])("%s", ([, vendor, isRead]) => {
    const plain = clusterOf(apiVersion, undefined);
    expect(plain).toMatchObject({ cluster: { distribution: "opensearch" }, issues: [], ignored: [] });
    expect(clusterOf(apiVersion, vendor)).toEqual(isRead ? plain : undefined);
  });
});
