import type { KubeObject } from "./kube-object.ts";

/**
 * A kind of the API: where its objects are served, and their type. The type parameter exists at compile time only; at run
 * time objects are plain JSON.
 */
export interface Kind<O extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** As written in URLs, e.g. `configmaps`. */
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  /** Carries the type of the objects; never there at run time. */
  readonly objectType?: O;
}

/**
 * Describes a kind once.
 *
 * @example
 * interface ConfigMap extends KubeObject { readonly data?: Readonly<Record<string, string>> }
 * const configMaps = defineKind<ConfigMap>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" });
 */
export function defineKind<O extends KubeObject>(kind: Omit<Kind<O>, "objectType">): Kind<O> {
  return Object.freeze({ ...kind });
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Pick<Kind, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The group of an apiVersion; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}

/** Stable name of a kind for logs, metrics and map keys: `Deployment.apps`, `ConfigMap`. */
export function nameOfKind({ group, kind }: Pick<Kind, "group" | "kind">): string {
  return group === "" ? kind : `${kind}.${group}`;
}
