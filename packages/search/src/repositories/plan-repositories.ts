import { digestOf } from "@quartermaster/runtime";

import {
  decideEntries,
  type EntryPlan,
  type EntryPolicy,
  isEntriesDone,
} from "../declared-entries/decide-entries.ts";
import type { EngineRepository } from "../engine/engine-facts.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

/** A repository of somebody else holds their snapshots: it is never overwritten. */
const policy: EntryPolicy = { overwritesForeign: false, isVerified: true, mostRecords: 128 };

type Known = Pick<Seen, "cluster"> & { readonly status: Partial<ClusterStatus> };

/** What becomes of the repositories that are there. Pure: asked again with live reads before anything is written. */
export function planRepositories(known: Known, present: readonly EngineRepository[]): EntryPlan {
  const { cluster, status } = known;
  const digests = digestsOf(status.clusterUuid);
  return decideEntries(
    {
      wanted: digests(cluster.repositories),
      recorded: status.repositories ?? [],
      present: digests(present),
    },
    policy,
  );
}

/** Whether the engine has to be asked for its repositories. */
export function isRepositoriesAsked({ cluster, status }: Known): boolean {
  if (status.clusterUuid === undefined || cluster.isPaused) return false;
  const wanted = digestsOf(status.clusterUuid)(cluster.repositories);
  return !isEntriesDone({ wanted, recorded: status.repositories ?? [] }, policy);
}

/** A cluster that was founded anew has none of what was registered before. */
function digestsOf(
  uuid: string | undefined,
): (repositories: readonly EngineRepository[]) => ReadonlyMap<string, string> {
  return (repositories) =>
    new Map(
      repositories.map(({ name, type, settings }) => [
        name,
        digestOf({ uuid: uuid ?? "", type, settings }).slice(0, 32),
      ]),
    );
}
