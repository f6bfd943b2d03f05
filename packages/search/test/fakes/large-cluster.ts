import type { Live } from "@quartermaster/runtime";
import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import type { PersistentVolumeClaim, Pod, StatefulSet } from "@quartermaster/runtime/kinds";

import { NO_SAMPLES } from "../../src/autoscaling/sample-windows.ts";
import { wantedCertificates } from "../../src/certificates/wanted-certificates.ts";
import { NO_DASHBOARDS } from "../../src/dashboards/observe-dashboards.ts";
import type { EngineFacts, Fact } from "../../src/engine/engine-facts.ts";
import { noFacts } from "../../src/engine/engine-sample.ts";
import { readFacts } from "../../src/engine/read-facts.ts";
import { NO_LICENSE } from "../../src/license/observe-license.ts";
import { type ClusterObject, readCluster } from "../../src/model/read-cluster.ts";
import { podNames } from "../../src/model/search-cluster.ts";
import { NO_MONITORING } from "../../src/monitoring/observe-monitoring.ts";
import { type Children, observeWorkload } from "../../src/observe-workload.ts";
import { ownerAnnotations, ownerLabels } from "../../src/owner-labels.ts";
import { searchRules } from "../../src/rules.ts";
import { NOTHING_APPLIED } from "../../src/security-content/observe-security.ts";
import type { Material, Seen } from "../../src/seen.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";

/** How large. */
export interface LargeClusterSize {
  /** Data nodes, besides three managers. */
  readonly dataNodes: number;
  /** Copies of shards in all; each shard has two. */
  readonly copies: number;
}

/** A cluster in the middle of a rolling restart, to measure how long a look at it and a decision take. */
export interface LargeCluster {
  /** Builds the value that a decision reads, from objects as stores hold them and from the engine's own answer. */
  sample(): Seen;
  /** All lanes and the status; says which actions follow. */
  decide(seen: Seen): readonly string[];
}

const dayMs = 86_400_000;
const now = new Date("2026-11-17T00:00:00Z");
const noInputs = { keystore: {}, volumes: {} };

/** Makes one: everything is well, but for one data node that was started with an older configuration. */
export async function largeCluster({ dataNodes, copies }: LargeClusterSize): Promise<LargeCluster> {
  const object = declaration(dataNodes);
  const { cluster } = readCluster(object);
  const nodes = cluster.pools.flatMap((pool) =>
    podNames(cluster, pool).map((name) => ({ name, pool: pool.name, roles: pool.roles })),
  );
  const material = await materialOf(cluster);
  const children = childrenOf(object, cluster);
  const data = nodes.flatMap(({ name, pool }) => (pool === "data" ? [name] : []));
  const response = JSON.stringify(routingTable(nodes, data, copies));
  const facts = engineOf(nodes, data, copies);
  return {
    sample: () => ({
      ...observeWorkload(object, children),
      readAtMs: 0,
      engineClient: undefined,
      isSuperseded: false,
      leftToHeir: [],
      predecessor: undefined,
      takenNames: [],
      claims: [],
      kept: [],
      material,
      bootstrapList: "empty",
      engine: { ...facts, shards: known(readFacts.shards(JSON.parse(response))) },
      license: NO_LICENSE,
      autoscaling: NO_SAMPLES,
      guards: [],
      dashboards: NO_DASHBOARDS,
      monitoring: NO_MONITORING,
      security: {
        hasIndex: known(true),
        serving: new Set(nodes.map(({ name }) => name)),
        files: undefined,
        applied: NOTHING_APPLIED,
      },
    }),
    decide: (seen) => {
      for (const { decide } of searchRules) {
        const verdict = decide(seen, now);
        if (verdict !== undefined)
          return (verdict.lanes ?? []).flatMap(({ actions }) => actions.map((action) => action.kind));
      }
      return [];
    },
  };
}

interface Node {
  readonly name: string;
  readonly pool: string;
  readonly roles: readonly string[];
}

function known<T>(value: T): Fact<T> {
  return { isKnown: true, value, atMs: now.getTime() };
}

function declaration(dataNodes: number): Live<ClusterObject> {
  const object: unknown = {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team", uid: "cluster", resourceVersion: "1", generation: 1 },
    spec: {
      general: { serviceName: "logs", version: "2.19.4" },
      nodePools: [
        { component: "managers", replicas: 3, diskSize: "1Gi", roles: ["cluster_manager"] },
        { component: "data", replicas: dataNodes, diskSize: "1Gi", roles: ["data"] },
      ],
    },
    status: { clusterUuid: "U", version: "2.19.4" },
  };
  return object as Live<ClusterObject>;
}

/** Real certificates: reading them is a part of every decision. */
async function materialOf(cluster: Seen["cluster"]): Promise<Material> {
  const validity = { notBeforeMs: now.getTime() - dayMs, notAfterMs: now.getTime() + 300 * dayMs };
  const subject = { commonName: "ca", organizationalUnits: ["logs"], organizations: ["team"] };
  const ca = await issueCa({ subject, serial: "01", validity });
  const ours = { state: "ours", live: undefined } as const;
  const material: Material = {
    ca: { ...ours, name: "logs-ca", pair: ca },
    certificates: new Map([["admin", { ...ours, name: "logs-admin-cert", pair: undefined }]]),
    supplied: new Map(),
    foreignTrust: [],
    foreignHttpTrust: [],
    mountedCertificates: [],
    adminPassword: {
      ...ours,
      name: "logs-admin-password",
      login: { username: "admin", password: "secret" },
      version: "1/1",
    },
    fileRealm: undefined,
    dashboards: undefined,
    monitoring: undefined,
    grafana: undefined,
    missing: [],
    podInputs: noInputs,
  };
  const certificates = await Promise.all(
    wantedCertificates({ cluster, material }).map(async (order) => {
      const pair = await issueCertificate(ca, { ...order, serial: "02", validity });
      const live: unknown = { data: { "ca.crt": Buffer.from(order.trustPem).toString("base64") } };
      return [
        order.certificate,
        { name: order.secretName, state: ours.state, live: live as never, pair },
      ] as const;
    }),
  );
  return { ...material, certificates: new Map(certificates) };
}

/** StatefulSets as we make them, and their pods as Kubernetes does. */
function childrenOf({ metadata }: Live<ClusterObject>, cluster: Seen["cluster"]): Children {
  const pools = cluster.pools.map((pool) => {
    const inputsHash = poolInputsHash(cluster, pool, noInputs);
    const set = poolStatefulSet(cluster, pool, { inputsHash });
    const labels = { [ownerLabels.pool]: pool.name };
    const ownerReferences = [{ uid: metadata.uid, controller: true }];
    const live = { ...set, metadata: { ...set.metadata, uid: `set-${pool.name}`, labels, ownerReferences } };
    return { pool: pool.name, set: live, names: podNames(cluster, pool) };
  });
  const sets = pools.map(({ set }) => set);
  const pods = pools.flatMap(({ set, names }) =>
    names.map((name) => ({
      metadata: {
        ...set.spec.template.metadata,
        name,
        uid: `uid-${name}`,
        labels: set.metadata.labels,
        ...(name === "logs-data-0" ? { annotations: { [ownerAnnotations.inputsHash]: "older" } } : {}),
        ownerReferences: [{ uid: set.metadata.uid, controller: true }],
      },
      spec: set.spec.template.spec,
      status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
    })),
  );
  const claims = pools.flatMap(({ pool, names }) =>
    names.map((name) => ({
      metadata: {
        name: `data-${name}`,
        uid: `pvc-${name}`,
        labels: { [ownerLabels.pool]: pool },
        annotations: { [ownerAnnotations.engineUuid]: "U", [ownerAnnotations.managers]: "3" },
      },
    })),
  );
  return {
    sets: sets as unknown as readonly Live<StatefulSet>[],
    pods: pods as unknown as readonly Live<Pod>[],
    claims: claims as unknown as readonly Live<PersistentVolumeClaim>[],
  };
}

/** As `_cluster/state/routing_table,nodes` answers: two copies of each shard, ten shards to an index. */
function routingTable(nodes: readonly Node[], data: readonly string[], copies: number): object {
  const copyOn = (at: number, isPrimary: boolean): object => ({
    primary: isPrimary,
    state: "STARTED",
    node: `id-${data[at % data.length] ?? ""}`,
    relocating_node: null,
  });
  const indices = Array.from({ length: Math.ceil(copies / 20) }, (_, at): readonly [string, object] => {
    const index = `orders-${String(at)}`;
    const shards = Array.from({ length: 10 }, (_each, shard): readonly [string, object] => {
      const first = at * 10 + shard;
      const rows = [copyOn(first, true), copyOn(first + 1, false)];
      return [String(shard), rows.map((row) => ({ index, shard, ...row }))];
    });
    return [index, { shards: Object.fromEntries(shards) }];
  });
  return {
    nodes: Object.fromEntries(nodes.map(({ name }) => [`id-${name}`, { name }])),
    routing_table: { indices: Object.fromEntries(indices) },
  };
}

function engineOf(nodes: readonly Node[], data: readonly string[], copies: number): EngineFacts {
  const voters = nodes.flatMap(({ name, pool }) => (pool === "managers" ? [name] : []));
  return {
    ...noFacts,
    health: known({
      status: "green",
      nodes: nodes.length,
      dataNodes: data.length,
      activeShards: copies,
      relocatingShards: 0,
      initializingShards: 0,
      unassignedShards: 0,
      pendingTasks: 0,
    }),
    nodes: known(
      nodes.map(({ name, roles }) => ({
        id: `id-${name}`,
        name,
        version: "2.19.4",
        roles,
        isElected: name === voters[0],
      })),
    ),
    coordination: known({ clusterUuid: "U", voters, exclusions: [], elected: voters[0] }),
    settings: known({ persistent: {}, transient: {} }),
    nodeLoad: known(
      data.map((node) => ({
        node,
        shards: copies / data.length,
        documents: copies,
        storeBytes: 0,
        diskTotalBytes: 1000,
        diskFreeBytes: 800,
        heapPercent: 10,
        cpuPercent: 1,
        searchQueue: 0,
        writeRejections: 0,
      })),
    ),
    indices: known(
      Array.from({ length: Math.ceil(copies / 20) }, (_, at) => ({
        name: `orders-${String(at)}`,
        replicas: 1,
        isAutoExpanded: false,
      })),
    ),
  };
}
