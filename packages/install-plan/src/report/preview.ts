import { finishing, type PlanStatus } from "../progress.ts";
import type { Preflight, PreviewAction, Seen } from "../world/seen.ts";

const detailLimit = 100;
type Preview = NonNullable<PlanStatus["preview"]>;

/** What would be done, once the server was asked about all of it; undefined before. */
export function previewOf({ preflight, members }: Pick<Seen, "preflight" | "members">): Preview | undefined {
  if (preflight === undefined || preflight.missingPermissions.length > 0 || preflight.undecided.length > 0)
    return undefined;
  const { actions, digest } = preflight;
  const count = (wanted: PreviewAction): number => actions.filter((action) => action === wanted).length;
  const changes = members.flatMap(({ member }, index) => {
    const action = actions[index] ?? "noop";
    if (action === "noop") return [];
    return [{ stage: member.stage, index: member.index, object: member.identity, action }];
  });
  return {
    digest,
    create: count("create"),
    update: count("update"),
    adopt: count("adopt"),
    takeover: count("takeover"),
    recreate: count("recreate"),
    noop: count("noop"),
    delete: preflight.deletes.length,
    deferred: count("deferred"),
    // What goes comes first: it is what a person has to see before approving, however long the list is.
    details: [...deletionsOf(preflight), ...changes].slice(0, detailLimit),
  };
}

/** Deletions come when every stage is passed. */
function deletionsOf({ deletes }: Preflight): NonNullable<Preview["details"]> {
  return deletes.map((object, index) => ({ stage: finishing, index, object, action: "delete" }));
}
