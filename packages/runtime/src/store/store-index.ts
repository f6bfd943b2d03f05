import type { KubeObject } from "../object/kube-object.ts";

/** A way to find objects by something other than their key. The name identifies it: one name, one function. */
export interface Index<O extends KubeObject = KubeObject> {
  readonly name: string;
  /** The values under which the object is found; pure. */
  readonly valuesOf: (object: O) => readonly string[];
}

/** Finds the objects of a namespace. */
export const byNamespace: Index = {
  name: "namespace",
  valuesOf: ({ metadata: { namespace } }) => (namespace === undefined ? [] : [namespace]),
};

/** Finds the objects that name an owner by its uid: names can be taken over, uids cannot. */
export const byOwner: Index = {
  name: "owner",
  valuesOf: ({ metadata: { ownerReferences = [] } }) => ownerReferences.map(({ uid }) => uid),
};

/** Finds the objects by the value of one of their labels. */
export function byLabel(label: string): Index {
  return {
    name: `label ${label}`,
    valuesOf: ({ metadata: { labels } }) => {
      const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
      return value === undefined ? [] : [value];
    },
  };
}

/** An index of one's own; the name must be unique within the kind. */
export function defineIndex<O extends KubeObject>(
  name: string,
  valuesOf: (object: O) => readonly string[],
): Index<O> {
  return { name: `own ${name}`, valuesOf };
}
