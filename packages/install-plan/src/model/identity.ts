import { groupOf, type KubeObject } from "@quartermaster/runtime";

/** Which object is meant, by what it says of itself. `namespace` is left out for cluster-wide kinds. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Two versions of one kind are one object: the key names group, kind, namespace and name. */
export type IdentityKey = string & { readonly brand: "IdentityKey" };

/** The key under which an object is known within a plan. */
export function identityKey({ apiVersion, kind, namespace = "", name }: Identity): IdentityKey {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made here and nowhere else
  return `${groupOf(apiVersion)}/${kind}/${namespace}/${name}` as IdentityKey;
}

/** The identity that an object has. */
export function identityOf({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): Identity {
  return { apiVersion, kind, namespace, name };
}

/** As much of an identity as people need. */
interface Named {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** For people: `ConfigMap shop/settings`. */
export function describeIdentity({ kind, namespace, name }: Named): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
