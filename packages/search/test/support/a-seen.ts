import type { Live } from "@quartermaster/runtime";

import { NO_SAMPLES } from "../../src/autoscaling/sample-windows.ts";
import { NO_DASHBOARDS } from "../../src/dashboards/observe-dashboards.ts";
import type { EngineFacts, Fact } from "../../src/engine/engine-facts.ts";
import { noFacts } from "../../src/engine/engine-sample.ts";
import type { VolumeFacts } from "../../src/formation/volume-facts.ts";
import { NO_LICENSE } from "../../src/license/observe-license.ts";
import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { NO_MONITORING } from "../../src/monitoring/observe-monitoring.ts";
import { NOTHING_APPLIED } from "../../src/security-content/observe-security.ts";
import type { Material, PodFacts, Seen } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";

/** Keys and passwords as they are once everything is made; the pairs are not real ones. */
export function aMaterial(changes: Partial<Material> = {}): Material {
  const pair = { certificatePem: "certificate", keyPem: "key" };
  const secret = (
    name: string,
  ): { readonly name: string; readonly state: "ours"; readonly live: undefined } => ({
    name,
    state: "ours",
    live: undefined,
  });
  return {
    ca: { ...secret("logs-ca"), pair },
    certificates: new Map(
      (["transport", "http", "admin"] as const).map((certificate) => [
        certificate,
        { ...secret(`logs-${certificate}-cert`), pair },
      ]),
    ),
    supplied: new Map(),
    foreignTrust: [],
    foreignHttpTrust: [],
    mountedCertificates: [],
    adminPassword: {
      ...secret("logs-admin-password"),
      login: { username: "admin", password: "secret" },
      version: "1/1",
    },
    fileRealm: undefined,
    dashboards: undefined,
    monitoring: undefined,
    grafana: undefined,
    missing: [],
    podInputs: { keystore: {}, volumes: {} },
    ...changes,
  };
}

/** A response of the engine. */
export function known<T>(value: T): Fact<T> {
  return { isKnown: true, value, atMs: 0 };
}

/** What an engine says: nothing, besides what is given. */
export function engineFacts(changes: Partial<EngineFacts> = {}): EngineFacts {
  return { ...noFacts, ...changes };
}

export function identities(uuids: Readonly<Record<string, string | undefined>>): EngineFacts["identities"] {
  return new Map(
    Object.entries(uuids).map(([node, clusterUuid]) => [
      node,
      known({
        node,
        version: "2.19.4",
        clusterName: "logs",
        clusterUuid,
        hasVoters: clusterUuid !== undefined,
      }),
    ]),
  );
}

/** A pod that runs. */
export function aPod(name: string, changes: Partial<PodFacts> = {}): PodFacts {
  return {
    name,
    uid: `uid-${name}`,
    pool: name.split("-")[1] ?? "",
    ip: "10.0.0.1",
    isReady: true,
    isTerminating: false,
    inputsHash: undefined,
    trouble: undefined,
    restarts: 0,
    isImageMissing: false,
    isPending: false,
    unreadySinceMs: undefined,
    ...changes,
  };
}

/** A volume of a node that holds everything, and of which no cluster is known. */
export function aVolume(node: string, facts: Partial<VolumeFacts> = {}): VolumeFacts {
  return {
    name: `data-${node}`,
    uid: `pvc-${node}`,
    node,
    holdsManager: true,
    holdsData: true,
    engineUuid: undefined,
    managers: undefined,
    ownerUid: aSearchCluster().uid,
    distribution: "opensearch",
    version: "2.19.4",
    sizeBytes: 1024 ** 3,
    capacityBytes: 1024 ** 3,
    ...facts,
  };
}

export function aSeen(changes: Partial<Seen> = {}): Seen {
  const cluster = changes.cluster ?? aSearchCluster();
  return {
    object: {
      metadata: { name: cluster.name, namespace: cluster.namespace, uid: cluster.uid },
    } as Live<ClusterObject>,
    readAtMs: 0,
    engineClient: undefined,
    cluster,
    issues: [],
    ignored: [],
    status: {},
    heldVersion: undefined,
    heldTls: undefined,
    heldStorage: [],
    mounted: { transport: [], http: [] },
    isSuperseded: false,
    leftToHeir: [],
    predecessor: undefined,
    takenNames: [],
    material: aMaterial(),
    statefulSets: new Map(),
    pods: [],
    volumes: [],
    claims: [],
    kept: [],
    bootstrapList: "absent",
    engine: engineFacts(),
    autoscaling: NO_SAMPLES,
    security: {
      hasIndex: { isKnown: false, why: "not asked" },
      serving: new Set(),
      files: undefined,
      applied: NOTHING_APPLIED,
    },
    license: NO_LICENSE,
    guards: [],
    dashboards: NO_DASHBOARDS,
    monitoring: NO_MONITORING,
    ...changes,
  };
}
