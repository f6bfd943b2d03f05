import { describe, expect, test } from "vitest";

import type { PoolStorage } from "../../src/model/search-cluster.ts";
import { heldStorageMessage, withFixedFields, withRunningStorage } from "../../src/pools/running-storage.ts";
import type { Seen } from "../../src/seen.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";

const running: PoolStorage = {
  kind: "volume",
  size: "1Gi",
  accessModes: ["ReadWriteOnce"],
  labels: { team: "a" },
  annotations: {},
};

/** A StatefulSet with claims of this storage. */
function setWith({ storageClass }: { readonly storageClass?: string } = {}): Seen["statefulSets"] {
  const claim = {
    metadata: { name: "data", labels: { team: "a", "search.quartermaster.dev/cluster": "logs" } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
    },
  };
  return new Map([
    ["nodes", { metadata: { name: "logs-nodes" }, spec: { template: {}, volumeClaimTemplates: [claim] } }],
  ]) as never;
}

const onNode: Seen["statefulSets"] = new Map([
  [
    "nodes",
    {
      metadata: { name: "logs-nodes" },
      spec: { template: { spec: { volumes: [{ name: "data", emptyDir: {} }] } } },
    },
  ],
]) as never;

describe("[first-use/1] storage that differs from what a StatefulSet has", () => {
  test.for<[string, PoolStorage, Seen["statefulSets"], readonly string[]]>([
    ["nothing runs yet", { ...running, size: "2Gi" }, new Map(), []],
    ["the same", running, setWith(), []],
    ["the same size in other units", { ...running, size: "1024Mi" }, setWith(), []],
    ["larger", { ...running, size: "2Gi" }, setWith(), ["nodes: diskSize (1Gi, 2Gi is declared)"]],
    ["smaller", { ...running, size: "500Mi" }, setWith(), ["nodes: diskSize (1Gi, 500Mi is declared)"]],
    [
      "another class",
      { ...running, storageClass: "fast" },
      setWith({ storageClass: "slow" }),
      ["nodes: storageClass (slow)"],
    ],
    ["no class is named", running, setWith({ storageClass: "slow" }), []],
    [
      "other access",
      { ...running, accessModes: ["ReadWriteMany"] },
      setWith(),
      ["nodes: accessModes (ReadWriteOnce)"],
    ],
    [
      "another label of claims",
      { ...running, labels: { team: "b" } },
      setWith(),
      ["nodes: labels or annotations of claims"],
    ],
    [
      "emptyDir instead of claims",
      { kind: "emptyDir", source: {} },
      setWith(),
      ["nodes: persistence (claims, emptyDir is declared)"],
    ],
    ["claims instead of emptyDir", running, onNode, ["nodes: persistence (emptyDir, claims is declared)"]],
    [
      "a limit on emptyDir, which a restart brings",
      { kind: "emptyDir", source: { sizeLimit: "1Gi" } },
      onNode,
      [],
    ],
  ])("%s", ([, storage, sets, want]) => {
    const cluster = aSearchCluster({ pools: [aPool({ storage })] });
    const found = withRunningStorage(cluster, sets);
    expect(found.heldStorage).toEqual(want);
    expect(found.cluster === cluster).toBe(want.length === 0);
  });

  test("what Kubernetes never changes stays as the live StatefulSet has it", () => {
    const live = setWith().get("nodes");
    const wanted = {
      metadata: { name: "logs-nodes" },
      spec: { serviceName: "other", replicas: 2, volumeClaimTemplates: [] },
    };
    expect(withFixedFields(wanted as never, undefined)).toBe(wanted);
    const fixed = withFixedFields(
      wanted as never,
      { ...live, spec: { ...live?.spec, serviceName: "logs" } } as never,
    );
    expect(fixed.spec).toMatchObject({ serviceName: "logs", replicas: 2 });
    expect(fixed.spec.volumeClaimTemplates).toEqual(live?.spec.volumeClaimTemplates);
  });

  test("defaults that the server added to a template are not applied by us", () => {
    const [claim] = setWith().get("nodes")?.spec.volumeClaimTemplates ?? [];
    const own = { metadata: { name: "logs-nodes" }, spec: { volumeClaimTemplates: [claim] } };
    const defaulted = { ...claim, spec: { ...claim?.spec, volumeMode: "Filesystem" }, status: {} };
    const live = { ...own, spec: { volumeClaimTemplates: [defaulted] } };
    expect(withFixedFields(own as never, live as never).spec.volumeClaimTemplates).toEqual([claim]);
    const larger = { ...claim, spec: { ...claim?.spec, resources: { requests: { storage: "2Gi" } } } };
    const changed = { ...own, spec: { volumeClaimTemplates: [larger] } };
    expect(withFixedFields(changed as never, live as never).spec.volumeClaimTemplates).toEqual([defaulted]);
  });

  test("the message names the way to other storage", () => {
    expect(heldStorageMessage(["nodes: diskSize (1Gi, 2Gi is declared)"])).toContain(
      "add a pool with the new storage and drop this one in the same edit",
    );
  });
});
