import { firstTen } from "@quartermaster/api";
import type { Client, Live, ObjectMeta } from "@quartermaster/runtime";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "@quartermaster/runtime/kinds";

import type { SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations, ownerLabels, releaseOf } from "../owner-labels.ts";
import { dataVolume } from "../workload/pool-volumes.ts";
import { distributionIn } from "./volume-facts.ts";

/** A pod that mounts a claim by name, whatever labels the claim has. */
export interface ClaimedPod {
  /** Name of the pod, and of the node. */
  readonly node: string;
  readonly pool: string;
  /** No StatefulSet has a place for it yet. */
  readonly isNew: boolean;
}

/** The claim that such a pod mounts, read live. */
export interface ClaimFact extends ClaimedPod {
  /** Name of the claim. */
  readonly name: string;
  /**
   * absent: the StatefulSet controller creates it. ours: of this cluster, or of one before it with the same name, pool, distribution and
   * version. leaving: it is being deleted. foreign: anything else.
   */
  readonly state: "absent" | "ours" | "leaving" | "foreign";
  /** Undefined for an absent one. */
  readonly uid: string | undefined;
  /** PersistentVolume that it is bound to. */
  readonly volumeName?: string | undefined;
  /** For a foreign one: whose it is. */
  readonly why: string;
}

type Identity = Pick<SearchCluster, "name" | "namespace" | "distribution" | "version">;

/** After this time claims that others have to delete are read again. */
export const claimRecheckMs = 30_000;

/** More claims than this are read by one list of the namespace. */
const singleReads = 32;

/** Reads the claim of each pod from the API server: our store holds labeled claims only, and may lag behind. */
export async function readMountedClaims(
  mounting: readonly ClaimedPod[],
  cluster: Identity,
  client: Pick<Client, "find" | "list">,
): Promise<readonly ClaimFact[]> {
  const { namespace } = cluster;
  const found = new Map<string, Live<PersistentVolumeClaim>>();
  if (mounting.length > singleReads) {
    const names = new Set(mounting.map(({ node }) => claimName(node)));
    for await (const claim of client.list(persistentVolumeClaims, { namespace }))
      if (names.has(claim.metadata.name)) found.set(claim.metadata.name, claim);
  } else {
    const read = async ({ node }: ClaimedPod): Promise<void> => {
      const claim = await client.find(persistentVolumeClaims, { namespace, name: claimName(node) });
      if (claim !== undefined) found.set(claim.metadata.name, claim);
    };
    await Promise.all(mounting.map(read));
  }
  return mounting.map((pod) => {
    const claim = found.get(claimName(pod.node));
    return { ...judgeClaim(pod, claim?.metadata, cluster), volumeName: claim?.spec?.volumeName };
  });
}

function claimName(node: string): string {
  return `${dataVolume}-${node}`;
}

/** Whose the claim is that a pod mounts. Only what is clearly this cluster's is ours. */
export function judgeClaim(
  pod: ClaimedPod,
  metadata: ObjectMeta | undefined,
  cluster: Pick<SearchCluster, "name" | "distribution" | "version">,
): ClaimFact {
  const name = claimName(pod.node);
  if (metadata === undefined) return { ...pod, name, state: "absent", uid: undefined, why: "" };
  const claim = { ...pod, name, uid: metadata.uid };
  if (metadata.deletionTimestamp !== undefined) return { ...claim, state: "leaving", why: "" };
  const why = foreignBecause(pod, metadata, cluster);
  return why === undefined ? { ...claim, state: "ours", why: "" } : { ...claim, state: "foreign", why };
}

function foreignBecause(
  { pool }: ClaimedPod,
  metadata: ObjectMeta,
  cluster: Pick<SearchCluster, "name" | "distribution" | "version">,
): string | undefined {
  const { labels = {} } = metadata;
  const owner = labels[ownerLabels.cluster];
  if (owner === undefined || labels[ownerLabels.uid] === undefined)
    return "it has no owner labels of a cluster";
  if (owner !== cluster.name) return `it belongs to cluster ${owner}`;
  if (labels[ownerLabels.pool] !== pool) return `it belongs to pool ${labels[ownerLabels.pool] ?? "unknown"}`;
  return writtenByAnother(metadata, cluster);
}

function writtenByAnother(
  { labels = {}, annotations = {} }: ObjectMeta,
  { distribution, version }: Pick<SearchCluster, "distribution" | "version">,
): string | undefined {
  const writer = distributionIn(labels);
  if (writer !== distribution) return `it belongs to a cluster of ${writer ?? "an unknown distribution"}`;
  // A claim of an older operator has no version: then the engine alone refuses data of a newer one.
  const written = labels[ownerLabels.version] ?? releaseOf(version);
  const isEmpty = annotations[ownerAnnotations.holds] === "nothing";
  return isEmpty || written === releaseOf(version)
    ? undefined
    : `it was written by version ${written}, and ${version} is declared`;
}

/** Names the claims that are not this cluster's, with what to do; undefined if all are. */
export function claimRefusal(claims: readonly ClaimFact[]): string | undefined {
  const foreign = claims.filter(({ state }) => state === "foreign");
  if (foreign.length === 0) return undefined;
  const list = firstTen(foreign.map(({ name, why }) => `${name} (${why})`));
  return `Pods of this cluster would mount claims that are not its own: ${list}. No node is added to these pools. Delete the claim if its data is not needed, or change what differs: the name of the cluster or of the pool, or spec.general.version.`;
}

/** Names of claims that have to be deleted completely before a new pod can have one of the name. */
export function claimsLeaving(claims: readonly ClaimFact[]): readonly string[] {
  return claims.filter(({ state, isNew }) => state === "leaving" && isNew).map(({ name }) => name);
}

/** Claims of pods that run which are being deleted: they, and what is on them, go with the pod. */
export function claimsGoing(claims: readonly ClaimFact[]): readonly ClaimFact[] {
  return claims.filter(({ state, isNew }) => state === "leaving" && !isNew);
}

/** Consequence for such a claim, and how to keep its data; undefined if there is none. */
export function goingMessage(claims: readonly ClaimFact[]): string | undefined {
  const going = claimsGoing(claims);
  const [first] = going;
  if (first === undefined) return undefined;
  const names = firstTen(going.map(({ name, node }) => `${name} of node ${node}`));
  const volume = first.volumeName === undefined ? "" : ` ${first.volumeName}`;
  return `Claims of running nodes are being deleted: ${names}. Kubernetes deletes a claim and its data as soon as the pod ends, and this cannot be called off, so the operator restarts no node until then. To keep the data, set persistentVolumeReclaimPolicy: Retain on PersistentVolume${volume}. To continue, make sure that other nodes have copies of all shards, then delete pod ${first.node}: it starts with an empty volume.`;
}
