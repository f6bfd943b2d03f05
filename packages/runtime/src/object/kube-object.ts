/**
 * An object as the API server returns it: plain JSON, unknown fields included, never edited in place. Numbers that a double
 * cannot hold are `RawNumber`s (see transport/parse-json.ts).
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/**
 * An object as the server sent it, from a store, a watch or a response: identity and version are definite. So is the namespace of a
 * namespaced kind. An object of a cluster-scoped kind has none at run time, whatever its type says: use `keyOf` where both can occur.
 * APIs that keep no objects, such as metrics and reviews, respond without uid and version: use `Client.raw` for them.
 */
export type Live<O extends KubeObject = KubeObject> = O & {
  readonly metadata: O["metadata"] & Readonly<Record<"uid" | "resourceVersion" | "namespace", string>>;
};

/** Takes an object for what the server sent. For the places where objects come in, and for tests. */
export function asLive<O extends KubeObject>(object: O): Live<O> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server gives every object a uid and a version
  return object as Live<O>;
}

/** Metadata of every object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  /** Who owns which field; only where a watch keeps it. */
  readonly managedFields?: readonly unknown[];
}

/** Points from a dependent to its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Names one object of a known kind. Cluster-scoped objects have no namespace. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** Names one object of a namespaced kind. */
export interface NamespacedRef extends ObjectRef {
  readonly namespace: string;
}

/** `namespace/name`, or just the name of a cluster-scoped object: the key of queues and stores. */
export type ObjectKey = string;

/** The key of an object or of a reference to it. */
export function keyOf({ name, namespace }: ObjectRef): ObjectKey {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The reference that a key stands for. */
export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * Orders two resourceVersions of one kind: below zero when `one` is older. They are decimal numbers of any length (comparable
 * by contract since Kubernetes 1.35), so length decides first and then the digits; a double could not hold them.
 */
export function compareVersions(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The newer of two. */
export function newerVersion(one: string, other: string): string {
  return compareVersions(one, other) < 0 ? other : one;
}
