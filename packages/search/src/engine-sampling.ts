import type { Live } from "@quartermaster/runtime";
import type { CertifiedKey } from "@quartermaster/runtime/certificates";

import { autoscalingTurns } from "./autoscaling/sample-windows.ts";
import { needsServedCertificates } from "./certificates/served-certificates.ts";
import { serverNameOf } from "./certificates/wanted-certificates.ts";
import { needsSettings } from "./cluster-settings/cluster-settings-lane.ts";
import type { EngineClient, EngineTarget } from "./engine/engine-client.ts";
import type { EngineFacts } from "./engine/engine-facts.ts";
import type { EngineSampler } from "./engine/engine-sampler.ts";
import type { SampledCluster } from "./engine/sampled-engine.ts";
import { outdatedPods } from "./facts/node-facts.ts";
import { belongsToEngine } from "./formation/volume-facts.ts";
import { needsLicense } from "./license/observe-license.ts";
import { operatorCertificate } from "./material/operator-certificate.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import { podNames, type SearchCluster } from "./model/search-cluster.ts";
import { needsRepositories } from "./repositories/repositories-lane.ts";
import { type Material, type PodFacts, saysReady, type Seen } from "./seen.ts";

export interface SamplingOptions {
  readonly sampler: EngineSampler;
  readonly nowMs: () => number;
}

type Observed = Pick<
  Seen,
  "cluster" | "status" | "pods" | "volumes" | "statefulSets" | "material" | "license" | "heldVersion"
>;

/** Declares to the sampler what to query from now on. Returns the client for writes; undefined while no node has an address. */
export function keepEngineSampling(
  { metadata }: Live<ClusterObject>,
  known: Observed & { readonly needsSecurityIndex: boolean },
  { sampler, nowMs }: SamplingOptions,
): EngineClient | undefined {
  const { cluster, status, material, pods: podList, license } = known;
  const target = withClient(engineTarget(cluster, material, podList), operatorCertificate(known));
  if (target === undefined) return undefined;
  const { isOpen, facts } = requiredFacts(known);
  const isRequested = needsLicense(cluster, license, { status, nowMs: nowMs() });
  const isReloading = needsServedCertificates(known);
  const all: typeof facts = new Set([
    ...facts,
    ...(isRequested ? (["license"] as const) : []),
    ...(isReloading ? (["served"] as const) : []),
    ...(known.needsSecurityIndex ? (["securityIndex"] as const) : []),
    ...(needsRepositories(known) ? (["repositories"] as const) : []),
    ...(needsSettings(known) ? (["settings"] as const) : []),
  ]);
  const client = sampler.keep(cluster.uid, {
    ref: metadata,
    target,
    isOpen: isOpen || isReloading || known.needsSecurityIndex,
    facts: all,
    turns: autoscalingTurns(cluster),
    lists: watchedLists(known),
  });
  return sampler.bounded(client);
}

/** Entries that the spec declares and other clients may change: looked for as long as lanes would act on them. */
function watchedLists({ cluster, status }: Pick<Seen, "cluster" | "status">): SampledCluster["lists"] {
  if (status.clusterUuid === undefined || cluster.isPaused) return [];
  return [
    ...(Object.keys(cluster.dynamicSettings).length === 0 ? [] : (["settings"] as const)),
    ...(cluster.repositories.length === 0 ? [] : (["repositories"] as const)),
  ];
}

/** The target with the author's certificate in the place of ours. */
function withClient(
  target: EngineTarget | undefined,
  client: CertifiedKey | undefined,
): EngineTarget | undefined {
  if (target?.tls === undefined || client === undefined) return target;
  return { ...target, tls: { ...target.tls, client } };
}

/** What the engine said. Of a cluster that has formed, after its first sample: a new operator must not take it for one that is silent. */
export async function engineFacts(
  { cluster, status }: Observed,
  { sampler }: SamplingOptions,
): Promise<EngineFacts> {
  return status.clusterUuid === undefined
    ? sampler.facts(cluster.uid)
    : await sampler.firstFacts(cluster.uid);
}

/** Facts for every decision about a node that goes away: they are sampled for it, and read again before it is carried out. */
export const forOperations = [
  "nodes",
  "coordination",
  "shards",
  "settings",
  "nodeLoad",
  "indices",
  "explanations",
] as const satisfies readonly (SampledCluster["facts"] extends ReadonlySet<infer Fact> ? Fact : never)[];

/**
 * The sampler's queries and their interval. A cluster that is as declared is queried for its health alone; whatever is missing,
 * unready, unlabeled or not reported yet makes it query members and voters; nodes that go away make it query everything.
 */
function requiredFacts(seen: Known): Pick<SampledCluster, "isOpen" | "facts"> {
  if (seen.status.clusterUuid === undefined) return { isOpen: true, facts: new Set(["identities"]) };
  if (isOperating(seen)) return { isOpen: true, facts: new Set(forOperations) };
  return isSettled(seen)
    ? { isOpen: false, facts: new Set() }
    : { isOpen: true, facts: new Set(["nodes", "coordination", "identities", "settings"]) };
}

type Known = Pick<Seen, "cluster" | "status" | "pods" | "volumes" | "statefulSets" | "material">;

/** A node is restarted or removed, or should be. */
function isOperating(known: Known): boolean {
  const { status, statefulSets, cluster } = known;
  if (status.operation !== undefined || outdatedPods(known).length > 0) return true;
  return [...statefulSets].some(
    ([name, { spec }]) =>
      (spec.replicas ?? 0) > (cluster.pools.find((pool) => pool.name === name)?.replicas ?? 0),
  );
}

function isSettled(known: Known): boolean {
  const { cluster, status } = known;
  return (
    saysReady(status) &&
    cluster.pools.flatMap((pool) => podNames(cluster, pool)).every((name) => isReported(known, name))
  );
}

/** Whether the status says of a node all that the engine would, and nothing has changed since. */
function isReported({ status, pods, volumes }: Known, name: string): boolean {
  const pod = pods.find((each) => each.name === name);
  const reported = status.nodes?.find((each) => each.name === name);
  const volume = volumes.find(({ node }) => node === name);
  if (pod?.isReady !== true || reported?.member !== true || reported.voter === undefined) return false;
  return reported.podUid === pod.uid && (volume === undefined || belongsToEngine(volume, status.clusterUuid));
}

/** Address of the engine, once it has a node and we have credentials. */
export function engineTarget(
  cluster: SearchCluster,
  material: Material,
  pods: readonly PodFacts[],
): EngineTarget | undefined {
  const { distribution, httpPort, security } = cluster;
  const endpoints = pods.flatMap(({ name, ip, isTerminating }) =>
    ip === undefined || isTerminating ? [] : [{ node: name, host: ip, port: httpPort }],
  );
  const login = material.fileRealm?.operator.login;
  const hasKey = material.fileRealm === undefined || login !== undefined;
  if (endpoints.length === 0 || !hasKey) return undefined;
  const base = { distribution, endpoints, login };
  if (!security.isEnabled || !security.http.isEnabled) return { ...base, tls: undefined };
  const tls = tlsOf(cluster, material);
  return tls === undefined ? undefined : { ...base, tls };
}

function tlsOf(cluster: SearchCluster, material: Material): EngineTarget["tls"] {
  const { pair: ca } = material.ca;
  if (ca === undefined) return undefined;
  return {
    // Nodes that have not restarted yet still serve certificates of the other.
    caPem: [...material.foreignHttpTrust, ca.certificatePem].join("\n"),
    serverName: cluster.serverName ?? serverNameOf(cluster),
    otherName: cluster.serverName === undefined ? undefined : serverNameOf(cluster),
    mountedCertificates: material.mountedCertificates,
    client: material.certificates.get("admin")?.pair,
  };
}
