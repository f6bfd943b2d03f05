import type { KubeObject, Live, ObjectRef, ReadStore } from "@quartermaster/runtime";

/** Objects that a change elsewhere brings back, by group. A cache: what it lacks is reconciled by its own event. */
export class KnownClusters {
  readonly #byGroup = new Map<string, Map<string, ObjectRef>>();
  #size = 0;

  /** The object belongs to the group from now on. */
  note(group: string, { metadata: { namespace, name, uid = "" } }: KubeObject): void {
    const known = this.#byGroup.get(group) ?? new Map<string, ObjectRef>();
    this.#byGroup.set(group, known);
    if (!known.has(uid)) this.#size += 1;
    known.set(uid, namespace === undefined ? { name } : { namespace, name });
  }

  /** The objects of a group. */
  refs(group: string): readonly ObjectRef[] {
    return [...(this.#byGroup.get(group)?.values() ?? [])];
  }

  /** Forgets what no longer exists, once that is much. */
  prune<O extends KubeObject>(
    store: Pick<ReadStore<O>, "list">,
    groupsOf: (object: Live<O>) => readonly string[],
  ): void {
    if (this.#size < 1000 || this.#size < 4 * store.list().length) return;
    this.#byGroup.clear();
    this.#size = 0;
    for (const object of store.list()) for (const group of groupsOf(object)) this.note(group, object);
  }
}

/** Only changes of the declaration: statuses are ours. */
export const generationOnly = {
  changed: ({ metadata: { generation, deletionTimestamp } }: Live): unknown => [
    generation,
    deletionTimestamp,
  ],
};
