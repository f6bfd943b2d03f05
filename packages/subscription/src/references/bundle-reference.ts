import type { Bundle, ClusterBundle } from "@quartermaster/api";

/** A Secret or ConfigMap that a bundle names. */
export interface ObjectIdentity {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  readonly name: string;
}

/** What an object is mounted for. */
export type Purpose = "entitlement" | "repository";

/** A key and the file that it becomes. */
export interface KeyPath {
  readonly key: string;
  readonly path: string;
}

/** A reference of a bundle with the object it means. */
export interface Reference {
  readonly purpose: Purpose;
  readonly object: ObjectIdentity;
  readonly items: readonly KeyPath[] | undefined;
  readonly prefix: string | undefined;
  readonly isOptional: boolean;
}

/** The keys of an object, or why they are not known. Never its values. */
export type KeyFacts =
  | { readonly kind: "keys"; readonly keys: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "forbidden" };

/** What is known about objects, by `referenceKey`. */
export type KnownKeys = ReadonlyMap<string, KeyFacts>;

/** One text per object. */
export function referenceKey({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind}/${namespace}/${name}`;
}

/** All references of a bundle in the order of its spec, entitlements first. A Bundle's are in its own namespace by default. */
export function referencesOf({ spec, metadata }: Bundle | ClusterBundle): readonly Reference[] {
  const read = (
    purpose: Purpose,
    kind: ObjectIdentity["kind"],
    given: Bundle["spec"]["entitlements"] = [],
  ): readonly Reference[] =>
    given.map(({ name, namespace = metadata.namespace ?? "", items, prefix, optional }) => ({
      purpose,
      object: { kind, namespace, name },
      items,
      prefix,
      isOptional: optional,
    }));
  return [
    ...read("entitlement", "Secret", spec.entitlements),
    ...read("repository", "ConfigMap", spec.yumRepositories),
  ];
}

/** The files that a reference puts into a pod, as far as its object has the keys. */
export function filesOf(
  { items, prefix = "" }: Pick<Reference, "items" | "prefix">,
  keys: readonly string[],
): readonly KeyPath[] {
  if (items !== undefined) return items.filter(({ key }) => keys.includes(key));
  return keys.map((key) => ({ key, path: `${prefix}${key}` }));
}

/** The object as messages name it. */
export function describeObject({ kind, namespace, name }: ObjectIdentity): string {
  return `${kind} ${namespace}/${name}`;
}
