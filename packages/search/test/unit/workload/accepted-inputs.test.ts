import { digestOf, type JsonObject, type Live } from "@quartermaster/runtime";
import type { StatefulSet } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { readCluster } from "../../../src/model/read-cluster.ts";
import type { SearchCluster } from "../../../src/model/search-cluster.ts";
import { readDeclaration } from "../../../src/offline/read-declaration.ts";
import { ownerAnnotations } from "../../../src/owner-labels.ts";
import { acceptedInputs, poolInputsHash, type StampedSet } from "../../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../../src/workload/pool-stateful-set.ts";

const followed = { keystore: {}, volumes: {} };

function clusterOf(general: JsonObject, spec: JsonObject = {}): SearchCluster {
  const read = readDeclaration({
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team", uid: "1f2e" },
    spec: {
      general: { serviceName: "logs", version: "3.2.0", ...general },
      nodePools: [{ component: "nodes", replicas: 1, roles: ["cluster_manager", "data"] }],
      ...spec,
    },
  });
  if (read.kind !== "read") throw new Error(JSON.stringify(read));
  return readCluster(read.object).cluster;
}

/** The formula of the operator before this one, written out: its hashes are on running pods. */
function hashBefore({ general = {} }: { readonly general?: JsonObject }, cluster: SearchCluster): string {
  const [pool] = cluster.pools;
  if (pool === undefined) throw new Error("no pool");
  const source = ({ isEnabled, isGenerated, secret }: SearchCluster["security"]["http"]): object => ({
    isEnabled,
    isGenerated,
    secret: isGenerated ? undefined : secret,
  });
  return digestOf({
    version: cluster.version,
    image: cluster.image.name,
    home: cluster.home,
    httpPort: cluster.httpPort,
    config: { ...cluster.config, ...pool.config },
    plugins: [],
    keystore: [],
    security: {
      isEnabled: true,
      transport: source(cluster.security.transport),
      http: source(cluster.security.http),
      adminDns: [],
      nodeDns: [],
    },
    roles: ["cluster_manager", "data"],
    jvm: undefined,
    resources: undefined,
    storage: "volume",
    pod: {
      labels: {},
      annotations: general["annotations"] ?? {},
      spec: {},
      container: {},
      sidecars: [],
      initContainers: [],
      volumes: [],
      setsMaxMapCount: false,
    },
    restart: undefined,
    followed,
  }).slice(0, 32);
}

function stamped(inputsHash: string, lateInputs?: string): StampedSet {
  const annotations = { [ownerAnnotations.inputsHash]: inputsHash };
  return {
    metadata: lateInputs === undefined ? {} : { annotations: { [ownerAnnotations.lateInputs]: lateInputs } },
    spec: { template: { metadata: { annotations } } },
  } as unknown as Live<StatefulSet>;
}

function accepted(cluster: SearchCluster, set: StampedSet | undefined): ReturnType<typeof acceptedInputs> {
  const [pool] = cluster.pools;
  if (pool === undefined) throw new Error("no pool");
  return acceptedInputs(cluster, pool, { followed, set });
}

function nextHash(cluster: SearchCluster): string {
  const [pool] = cluster.pools;
  if (pool === undefined) throw new Error("no pool");
  return poolInputsHash(cluster, pool, followed);
}

describe("[search/SC-123] an operator that knows more fields restarts no node of an unchanged cluster", () => {
  test("a cluster without them has the hash that it had", () => {
    const cluster = clusterOf({});
    expect(nextHash(cluster)).toBe(hashBefore({}, cluster));
  });

  test.for<[string, JsonObject, JsonObject?]>([
    ["annotations of Services", { annotations: { a: "b" } }],
    ["gRPC", { grpc: { enable: true } }],
    ["resources of init containers", {}, { initHelper: { resources: { limits: { cpu: "1" } } } }],
  ])("%s: pods keep their hash until something is edited", ([, general, spec]) => {
    const cluster = clusterOf(general, spec);
    const before = hashBefore({ general }, cluster);
    expect(nextHash(cluster)).not.toBe(before);
    const first = accepted(cluster, stamped(before));
    expect(first.inputsHash).toBe(before);
    // What the set is applied with says what the pods do without.
    expect(accepted(cluster, stamped(before, first.lateInputs))).toEqual(first);
  });

  test("an edit of a field that the pods do without restarts them", () => {
    const [one, other] = [
      clusterOf({ grpc: { enable: true } }),
      clusterOf({ grpc: { enable: true, port: "9500" } }),
    ];
    const before = hashBefore({}, one);
    const { lateInputs } = accepted(one, stamped(before));
    expect(accepted(other, stamped(before, lateInputs))).toEqual({ inputsHash: nextHash(other) });
  });

  test("an edit of anything else restarts them with all fields", () => {
    const cluster = clusterOf({ grpc: { enable: true } });
    const edited = clusterOf({ grpc: { enable: true }, httpPort: 9201 });
    const before = hashBefore({}, cluster);
    expect(accepted(edited, stamped(before))).toEqual({ inputsHash: nextHash(edited) });
  });

  test("a new pool has all fields", () => {
    const cluster = clusterOf({ grpc: { enable: true } });
    expect(accepted(cluster, undefined)).toEqual({ inputsHash: nextHash(cluster) });
    expect(accepted(cluster, stamped(nextHash(cluster)))).toEqual({ inputsHash: nextHash(cluster) });
  });

  test("annotations of Services restart no one, and annotations of pods do", () => {
    const plain = clusterOf({});
    expect(nextHash(clusterOf({ annotations: { a: "b" } }))).toBe(nextHash(plain));
    expect(nextHash(clusterOf({ podAnnotations: { a: "b" } }))).not.toBe(nextHash(plain));
  });

  test("the record is on the StatefulSet and not on its pods", () => {
    const cluster = clusterOf({ grpc: { enable: true } });
    const [pool] = cluster.pools;
    if (pool === undefined) throw new Error("no pool");
    const set = poolStatefulSet(cluster, pool, { inputsHash: "h", lateInputs: "late" });
    expect(set.metadata.annotations).toEqual({ [ownerAnnotations.lateInputs]: "late" });
    expect(set.spec.template.metadata?.annotations).toEqual({ [ownerAnnotations.inputsHash]: "h" });
  });
});
