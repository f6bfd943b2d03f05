import type { Context, Kind, KubeObject, ObjectRef, Tracked } from "@quartermaster/runtime";
import { nameOfKind } from "@quartermaster/runtime";

import { watchFor } from "./object-view.ts";

/** The marked objects of the kinds that a pass deals with. */
export interface MemberStores {
  find(kind: Kind, ref: ObjectRef): KubeObject | undefined;
  list(kind: Kind): readonly KubeObject[];
  /** False while nothing can be said about the kind's objects. */
  isWatched(kind: Kind): boolean;
}

/** Watches the kinds and waits for their first pictures: an object that is merely not seen yet must not be taken for absent. */
export async function trackKinds(ctx: Context, kinds: readonly Kind[]): Promise<MemberStores> {
  const tracked = new Map<string, Tracked>();
  for (const kind of kinds) {
    const name = nameOfKind(kind);
    if (!tracked.has(name)) tracked.set(name, ctx.track(watchFor(kind)));
  }
  for (const { settled } of tracked.values()) await settled;
  return {
    find: (kind, ref) => tracked.get(nameOfKind(kind))?.store.get(ref),
    list: (kind) => tracked.get(nameOfKind(kind))?.store.list() ?? [],
    isWatched: (kind) => tracked.get(nameOfKind(kind))?.store.isSynced ?? false,
  };
}
