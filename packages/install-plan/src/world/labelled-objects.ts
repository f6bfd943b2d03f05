import type { Context, Kind, KubeObject } from "@quartermaster/runtime";

import { isLabelledBy, type PlanRef } from "../owner-labels.ts";
import type { Entry } from "./inventory.ts";
import { trackKinds } from "./member-stores.ts";
import { type KindTable, reachableKind } from "./served-kinds.ts";

/** An object of an inventory that is there and has a plan's owner labels. */
export type LabelledObject<E extends Entry = Entry> = E & {
  readonly kind: Kind;
  readonly live: KubeObject;
};

/** Those of the entries that are there and still have the owner labels of the plan, in their order. */
export async function labelledObjects<E extends Entry>(
  entries: readonly E[],
  owner: PlanRef,
  { ctx, kinds }: { readonly ctx: Context; readonly kinds: KindTable },
): Promise<readonly LabelledObject<E>[]> {
  const served = entries.flatMap((entry) => {
    const kind = reachableKind(kinds, entry.identity);
    return kind === undefined ? [] : [{ ...entry, kind }];
  });
  const stores = await trackKinds(
    ctx,
    served.map(({ kind }) => kind),
  );
  return served.flatMap((entry) => {
    const live = stores.find(entry.kind, entry.identity);
    return live !== undefined && isLabelledBy(live, owner) ? [{ ...entry, live }] : [];
  });
}
