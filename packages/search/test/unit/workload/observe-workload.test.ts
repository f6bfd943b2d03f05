import type { Live } from "@quartermaster/runtime";
import type { StatefulSet } from "@quartermaster/runtime/kinds";
import { expect, test } from "vitest";

import type { ClusterObject } from "../../../src/model/read-cluster.ts";
import { observeWorkload } from "../../../src/observe-workload.ts";
import { aCluster, aPool } from "../../support/search-bench.ts";

const uid = "uid-logs";

function object(version: string, image?: string): Live<ClusterObject> {
  const pools = ["a", "b"].map((name) =>
    aPool(name, 1, image === undefined ? {} : { image: `${name}/${image}` }),
  );
  const { metadata, ...rest } = aCluster("logs", { pools, general: { version } }) as ClusterObject;
  return {
    ...rest,
    metadata: { ...metadata, namespace: "team", uid, resourceVersion: "1" },
    status: { clusterUuid: "U", version: "2.19.4" },
  };
}

function set(pool: string, owner = uid): Live<StatefulSet> {
  return {
    metadata: {
      name: `logs-${pool}`,
      namespace: "team",
      labels: { "search.quartermaster.dev/pool": pool },
      ownerReferences: [
        {
          apiVersion: "opensearch.org/v1",
          kind: "OpenSearchCluster",
          name: "logs",
          uid: owner,
          controller: true,
        },
      ],
    },
    spec: {
      replicas: 1,
      template: {
        spec: { containers: [{ name: "opensearch", image: `${pool}/search:2.19.4` }], volumes: [] },
      },
      volumeClaimTemplates: [],
    },
  } as unknown as Live<StatefulSet>;
}

test("another version is held: each pool keeps the image that its own nodes run", () => {
  const declared = object("2.20.0", "search:2.20.0");
  const { cluster, heldVersion } = observeWorkload(declared, {
    sets: [set("a"), set("b")],
    pods: [],
    claims: [],
  });
  expect(heldVersion).toBe("2.20.0");
  expect(cluster.version).toBe("2.19.4");
  expect(cluster.pools.map(({ image }) => image)).toEqual(["a/search:2.19.4", "b/search:2.19.4"]);
});

test("StatefulSets of another cluster with the same labels are none of its pools", () => {
  const { statefulSets } = observeWorkload(object("2.19.4"), {
    sets: [set("a"), set("b", "uid-of-another")],
    pods: [],
    claims: [],
  });
  expect([...statefulSets.keys()]).toEqual(["a"]);
});
