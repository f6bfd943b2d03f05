import type { KubeObject, ObjectKey } from "../object/kube-object.ts";

/** The indexes of one store; each is built when it is first requested. */
export class IndexSet<O extends KubeObject> {
  readonly #indexes = new Map<
    string,
    { readonly index: Index<O>; readonly keys: Map<string, Set<ObjectKey>> }
  >();

  /** Keys of the objects that the index has under the value. `objects` fills an index that is new. */
  keys(index: Index<O>, value: string, objects: ReadonlyMap<ObjectKey, O>): Iterable<ObjectKey> {
    let known = this.#indexes.get(index.name);
    if (known === undefined) {
      known = { index, keys: new Map() };
      this.#indexes.set(index.name, known);
      for (const [key, object] of objects) insert(known.keys, key, index.valuesOf(object));
    }
    return known.keys.get(value) ?? [];
  }

  /** An object took the place of another under its key. */
  move(key: ObjectKey, old: O | undefined, next: O | undefined): void {
    for (const { index, keys } of this.#indexes.values()) {
      const before = old === undefined ? [] : index.valuesOf(old);
      const after = next === undefined ? [] : index.valuesOf(next);
      if (isSame(before, after)) continue;
      withdraw(keys, key, before);
      insert(keys, key, after);
    }
  }
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((value, at) => value === after[at]);
}

function insert(keys: Map<string, Set<ObjectKey>>, key: ObjectKey, values: readonly string[]): void {
  for (const value of values) {
    const holders = keys.get(value);
    if (holders === undefined) keys.set(value, new Set([key]));
    else holders.add(key);
  }
}

function withdraw(keys: Map<string, Set<ObjectKey>>, key: ObjectKey, values: readonly string[]): void {
  for (const value of values) {
    const holders = keys.get(value);
    holders?.delete(key);
    if (holders?.size === 0) keys.delete(value);
  }
}

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
