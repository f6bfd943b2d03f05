import type { Live } from "@quartermaster/runtime";
import type { PersistentVolumeClaim } from "@quartermaster/runtime/kinds";
import { expect, test } from "vitest";

import { volumeFacts } from "../../src/formation/volume-facts.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";

const prefix = "search.quartermaster.dev";
const cluster = aSearchCluster({
  pools: [
    aPool({ name: "managers", roles: ["cluster_manager"] }),
    aPool({ name: "data", replicas: 2, roles: ["data"] }),
  ],
});

function claim(
  node: string,
  pool: string,
  more: Partial<PersistentVolumeClaim["metadata"]> = {},
): Live<PersistentVolumeClaim> {
  const labels = { [`${prefix}/pool`]: pool, [`${prefix}/cluster-uid`]: "1f2e", ...more.labels };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: `data-${node}`,
      namespace: "team",
      uid: `uid-${node}`,
      resourceVersion: "1",
      ...more,
      labels,
    },
  };
}

test("claims of two pools, one that is being deleted, and one of another distribution", () => {
  const claims = [
    claim("logs-managers-0", "managers"),
    claim("logs-data-1", "data"),
    claim("logs-data-0", "data", { deletionTimestamp: "2026-11-17T10:00:00Z" }),
    claim("logs-data-2", "data", { labels: { [`${prefix}/distribution`]: "elasticsearch" } }),
  ];
  const found = volumeFacts(claims, cluster);
  expect(found.map(({ node, holdsManager, holdsData }) => [node, holdsManager, holdsData])).toEqual([
    ["logs-data-1", false, true],
    ["logs-managers-0", true, false],
  ]);
});

test("a claim of an earlier cluster says itself what it holds, of which UUID, and of how many managers", () => {
  const annotations = {
    [`${prefix}/holds`]: "manager",
    [`${prefix}/engine-uuid`]: "OLD",
    [`${prefix}/managers`]: "4",
  };
  const labels = { [`${prefix}/cluster-uid`]: "before" };
  const [earlier, gone] = volumeFacts(
    [claim("logs-data-0", "data", { annotations, labels }), claim("logs-old-0", "old")],
    cluster,
  );
  expect(earlier).toMatchObject({
    holdsManager: true,
    holdsData: false,
    engineUuid: "OLD",
    managers: 4,
    ownerUid: "before",
  });
  // Of a pool that is not declared any more it may hold anything.
  expect(gone).toMatchObject({
    holdsManager: true,
    holdsData: true,
    engineUuid: undefined,
    managers: undefined,
  });
});
