import { digestOf } from "@quartermaster/runtime";

import {
  decideEntries,
  type EntryPlan,
  type EntryPolicy,
  isEntriesDone,
} from "../declared-entries/decide-entries.ts";
import { entriesLane } from "../declared-entries/entries-lane.ts";
import type { EngineRepository } from "../engine/engine-facts.ts";
import type { SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

/** Snapshot repositories: registered, tried out, and deregistered only if ours. */
export const repositoriesLane: SearchLane = entriesLane({
  lane: "repositories",
  rule: "keepRepositories",
  pendingReason: searchReasons.repositoriesPending,
  unknownMessage: "The engine has not reported its snapshot repositories yet.",
  pendingMessage: ({ cluster }) => {
    const names = cluster.repositories.map(({ name }) => name);
    return names.length === 0
      ? "Snapshot repositories that are no longer declared are deregistered."
      : `Snapshot repositories are registered: ${names.slice(0, 10).join(", ")}.`;
  },
  isPending: needsRepositories,
  plan: (seen) => {
    const { repositories } = seen.engine;
    return repositories.isKnown ? planRepositories(seen, repositories.value) : undefined;
  },
  conflict: (_seen, { conflicts }) =>
    conflicts.length === 0
      ? undefined
      : {
          reason: searchReasons.repositoryConflict,
          message: `The engine has other repositories of these names, which the operator did not register or which were changed since: ${conflicts.slice(0, 10).join(", ")}. Choose other names in spec.general.snapshotRepositories, or delete those from the engine.`,
        },
  action: ({ put, verify, drop }) =>
    put.length + verify.length + drop.length === 0
      ? undefined
      : { kind: "keepRepositories", put, verify, drop },
  left: (name) => ({
    reason: "RepositoryLeft",
    action: "DeregisterRepository",
    note: `Repository ${name} is no longer declared, but was changed by another client: it stays registered.`,
  }),
});

/** A repository of another client holds their snapshots: it is never overwritten. */
const policy: EntryPolicy = { overwritesForeign: false, isVerified: true, mostRecords: 128 };

type Known = Pick<Seen, "cluster"> & { readonly status: Partial<ClusterStatus> };

/** Plan for the present repositories. Pure: decided again with live reads before anything is written. */
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

/** Whether the engine has to be queried for its repositories. */
export function needsRepositories({ cluster, status }: Known): boolean {
  if (status.clusterUuid === undefined || cluster.isPaused) return false;
  const wanted = digestsOf(status.clusterUuid)(cluster.repositories);
  return !isEntriesDone({ wanted, recorded: status.repositories ?? [] }, policy);
}

/** A cluster that was founded again has none of what was registered before. */
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
