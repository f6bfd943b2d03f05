import type { Index, JsonObject, KubeObject } from "@quartermaster/runtime";

import type { SearchCluster } from "./model/search-cluster.ts";

const prefix = "search.quartermaster.dev/";

/** Labels of everything that belongs to a cluster. */
export const ownerLabels = {
  /** Name of the cluster. */
  cluster: `${prefix}cluster`,
  /** Uid of the cluster's object. */
  uid: `${prefix}cluster-uid`,
  /** Name of the pool, on pods and claims. */
  pool: `${prefix}pool`,
  /** The part of a cluster that an object belongs to, besides nodes: `dashboards`. */
  part: `${prefix}part`,
  /** `true` on claims and Secrets that the API server must not delete. */
  deletionProtected: `${prefix}deletion-protected`,
  /** Distribution whose data a claim holds. */
  distribution: `${prefix}distribution`,
  /** Version whose data a claim holds. */
  version: `${prefix}version`,
} as const;

/** Annotations that say what a volume holds, written once the cluster has formed, and what a pod or a certificate was made for. */
export const ownerAnnotations = {
  /** UUID of the engine's cluster whose data the volume holds. */
  engineUuid: `${prefix}engine-uuid`,
  /** `manager`, `data`, or both with a comma; `nothing` once the node was removed. */
  holds: `${prefix}holds`,
  /** How many managers the cluster had. */
  managers: `${prefix}managers`,
  /** Hash of what a pod was started with; see `poolInputsHash`. */
  inputsHash: `${prefix}inputs-hash`,
  /** On a StatefulSet: digest of inputs that its pods were started without, because the operator did not know them then. */
  lateInputs: `${prefix}late-inputs`,
  /** Value of the author's `renew-certificates` that a certificate was issued for; on its Secret, written with the pair. */
  renewed: `${prefix}renewed`,
} as const;

/** The labels for objects of a cluster. */
export function labelsOf({
  name,
  uid,
}: Pick<SearchCluster, "name" | "uid">): Readonly<Record<string, string>> {
  return { [ownerLabels.cluster]: name, [ownerLabels.uid]: uid };
}

/**
 * Whether an object without owner reference belongs to the cluster, or to one of the same name before it: objects that outlive a cluster on
 * purpose are taken over by the next. Only the operator may write these labels; the policy `search-marks` sees to that.
 */
export function isKeptFor({ metadata }: KubeObject, { name }: Pick<SearchCluster, "name">): boolean {
  return metadata.labels?.[ownerLabels.cluster] === name && metadata.labels[ownerLabels.uid] !== undefined;
}

/** Labels that make an object of an earlier cluster this one's. */
export function takeOver({ uid }: Pick<SearchCluster, "uid">): JsonObject {
  return { [ownerLabels.uid]: uid };
}

/** Labels that say by what a claim was written, besides whose it is. */
export function writerLabels({
  distribution,
  version,
}: Pick<SearchCluster, "distribution" | "version">): Readonly<Record<string, string>> {
  return { [ownerLabels.distribution]: distribution, [ownerLabels.version]: releaseOf(version) };
}

/** The three numbers of a version: what follows them may not fit into a label. */
export function releaseOf(version: string): string {
  return /^\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(version)?.[0] ?? "";
}

/** Finds the objects of a cluster by `namespace/name`. */
export const byCluster: Index = {
  name: "search-cluster",
  valuesOf: ({ metadata: { namespace = "", labels } }) => {
    const name = labels?.[ownerLabels.cluster];
    return name === undefined ? [] : [`${namespace}/${name}`];
  },
};
