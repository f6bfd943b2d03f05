import type { Context, Kind, KubeObject, ObjectRef, Tracked } from "@quartermaster/runtime";
import { ApiError, nameOfKind } from "@quartermaster/runtime";

import { describeUnwatchable } from "../report/unwatchable.ts";
import { watchFor } from "./object-view.ts";

/** The labelled objects of the kinds that a reconcile deals with. */
export interface MemberStores {
  find(kind: Kind, ref: ObjectRef): KubeObject | undefined;
  list(kind: Kind): readonly KubeObject[];
  /** False while nothing can be said about the kind's objects. */
  isWatched(kind: Kind): boolean;
  /** Those that the operator may not watch. */
  readonly forbidden: readonly Kind[];
}

/** As `trackPlanKinds`. Throws when one of them may not be watched: what cannot be seen must not be taken for gone. */
export async function trackKinds(ctx: Context, kinds: readonly Kind[]): Promise<MemberStores> {
  const stores = await trackPlanKinds(ctx, kinds);
  if (stores.forbidden.length === 0) return stores;
  throw unwatchable(stores.forbidden);
}

/** The error for kinds that the operator itself may not see. */
function unwatchable(kinds: readonly Kind[]): ApiError {
  return new ApiError(describeUnwatchable(kinds), { class: "forbidden", mayHaveActed: false });
}

/**
 * Watches the kinds and waits for their first pictures: an object that is merely not seen yet must not be taken for absent.
 * Of those in `later` it does not wait for any; see `isWatched`.
 */
export async function trackPlanKinds(
  ctx: Context,
  kinds: readonly Kind[],
  later: readonly Kind[] = [],
): Promise<MemberStores> {
  const tracked = new Map<string, Tracked>();
  const track = (kind: Kind): Tracked => {
    const known = tracked.get(nameOfKind(kind)) ?? ctx.track(watchFor(kind));
    tracked.set(nameOfKind(kind), known);
    return known;
  };
  const awaited = kinds.map(track);
  for (const kind of later) track(kind);
  for (const { firstResponse } of awaited) await firstResponse;
  return {
    find: (kind, ref) => tracked.get(nameOfKind(kind))?.store.get(ref),
    list: (kind) => tracked.get(nameOfKind(kind))?.store.list() ?? [],
    isWatched: (kind) => tracked.get(nameOfKind(kind))?.store.isSynced ?? false,
    forbidden: [...kinds, ...later].filter((kind) => tracked.get(nameOfKind(kind))?.isForbidden),
  };
}
