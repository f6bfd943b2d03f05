import type { Bundle, ClusterBundle } from "@quartermaster/api";

import type { Choice } from "./choose-bundles.ts";

/** The two kinds of bundles. */
export type BundleKind = "Bundle" | "ClusterBundle";

/** A bundle that a pod is to get, if it can. */
export interface Candidate {
  readonly kind: BundleKind;
  readonly name: string;
  /** Named by the pod; otherwise it came by its always-inject label. */
  readonly isNamed: boolean;
}

export interface InjectionFacts {
  /** That of the request: the pod's own may be empty. */
  readonly namespace: string;
  /** Which bundles the pod is to get. */
  readonly choice: Choice;
  /** Bundles of the namespace: those that the pod names and those with the always-inject label. */
  readonly bundles: ReadonlyMap<string, Bundle>;
  readonly clusterBundles: ReadonlyMap<string, ClusterBundle>;
  /** Whether the pod's service account may get a ClusterBundle, by its name. `unknown`: the question failed. */
  readonly access: ReadonlyMap<string, "allowed" | "denied" | "unknown">;
  /** The keys of referenced objects, by `referenceKey`. */
  readonly keys: ReadonlyMap<string, KeyFacts>;
}

/** The keys of a Secret or ConfigMap, or why they are not known. */
export type KeyFacts =
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "forbidden" }
  /** More than `objectKeyLimit`. */
  | { readonly kind: "tooManyKeys" }
  /** The pod's bundles refer to too many objects: this one was not read. */
  | { readonly kind: "beyondLimit" }
  /** The read failed. Only for objects of always-inject bundles: for named ones the whole request fails. */
  | { readonly kind: "unknown" };

/** Objects that the bundles of one pod, and those of one namespace, may refer to: each costs a request and a watch. */
export const referenceLimit = 256;

/** Keys that one object may have. A Secret has room for a hundred thousand, and all of them are compared with those of others. */
export const objectKeyLimit = 1_024;

/** Files that one bundle, and all bundles of one pod, may give. The share driver has the same limit for a volume. */
export const fileLimit = 4_096;

/** A Secret or ConfigMap. */
export interface ObjectIdentity {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  readonly name: string;
}

/** One key per object. */
export function referenceKey({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind}/${namespace}/${name}`;
}

/** A reference of a bundle with the object it means. */
export interface Reference {
  readonly purpose: Purpose;
  readonly object: ObjectIdentity;
  /** The bundle's `namespace` field; undefined means the bundle's own namespace. */
  readonly statedNamespace: string | undefined;
  readonly items: readonly KeyPath[] | undefined;
  readonly prefix: string | undefined;
  readonly isOptional: boolean;
}

export type Purpose = "repository" | "entitlement";

/** A key and the file that it becomes. */
export interface KeyPath {
  readonly key: string;
  readonly path: string;
}

/** All references of a bundle, in the order of its spec. Those of a Bundle are in its own namespace by default. */
export function referencesOf({ metadata, spec }: Bundle | ClusterBundle): readonly Reference[] {
  const { namespace = "" } = metadata;
  const read = (purpose: Purpose, kind: ObjectIdentity["kind"]): readonly Reference[] => {
    const given = purpose === "entitlement" ? spec.entitlements : spec.yumRepositories;
    return (given ?? []).map(({ name, namespace: stated, items, prefix, optional }) => ({
      purpose,
      object: { kind, namespace: stated ?? namespace, name },
      statedNamespace: stated,
      items,
      prefix,
      isOptional: optional,
    }));
  };
  return [...read("repository", "ConfigMap"), ...read("entitlement", "Secret")];
}

/** The files that a reference puts into a pod, as far as its object has the keys. */
export function filesOf(
  { items, prefix = "" }: Pick<Reference, "items" | "prefix">,
  keys: readonly string[],
): readonly KeyPath[] {
  if (items !== undefined) {
    const present = new Set(keys);
    return items.filter(({ key }) => present.has(key));
  }
  return keys.map((key) => ({ key, path: `${prefix}${key}` }));
}

/** Facts about an object with these keys; `undefined` when it does not exist. */
export function keyFactsOf(keys: readonly string[] | undefined): KeyFacts {
  if (keys === undefined) return { kind: "missing" };
  return keys.length > objectKeyLimit ? { kind: "tooManyKeys" } : { kind: "keys", keys };
}
