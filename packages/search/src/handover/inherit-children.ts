import { type Rule, stalled, type Verdict, waiting } from "@quartermaster/runtime";

import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import { namesOf, type Predecessor } from "./predecessor.ts";

/** Objects are waited for that others delete. */
const recheckMs = 2_000;

/**
 * The object of the newer group takes everything over that the older one has, before it does anything else: first what was decided about
 * the cluster, then its objects one by one. A crash at any point repeats the rest. Nothing is restarted.
 */
export const inheritChildren: Rule<Seen, SearchAction> = {
  name: "inheritChildren",
  decide: (seen) => {
    const { predecessor, status, cluster } = seen;
    if (predecessor === undefined || isInherited(predecessor, status)) return undefined;
    if (predecessor.isDeletionProtected && !cluster.isDeletionProtected) return unprotected();
    const inherited = isDecided(status) ? status : withoutVerdict(predecessor.status);
    return {
      // Once the status is written: a founding that is forgotten would be decided a second time.
      actions: isDecided(predecessor.status) && !isDecided(status) ? [] : inheritActions(predecessor),
      outcome: waiting(
        {
          reason: searchReasons.handover,
          message:
            "This cluster takes over what the OpenSearchCluster of this name in group opensearch.opster.io has.",
        },
        recheckMs,
      ),
      status: inherited,
    };
  },
};

function isInherited(predecessor: Predecessor, status: Partial<ClusterStatus>): boolean {
  return predecessor.left.length === 0 && (isDecided(status) || !isDecided(predecessor.status));
}

/** Whether it was decided how the cluster starts. */
function isDecided({ bootstrap, clusterUuid }: Partial<ClusterStatus>): boolean {
  return bootstrap !== undefined || clusterUuid !== undefined;
}

function withoutVerdict({
  conditions: _conditions,
  observedGeneration: _generation,
  ...status
}: Partial<ClusterStatus>): Partial<ClusterStatus> {
  return status;
}

/** Otherwise an object of the other group would be a way around the protection. */
function unprotected(): Verdict<SearchAction> {
  return {
    actions: [],
    outcome: stalled(
      {
        reason: searchReasons.handover,
        message:
          "The OpenSearchCluster of this name in group opensearch.opster.io is protected from deletion, and this one is not, so nothing is taken over. Set spec.operations.deletionProtection here too, or to false there.",
      },
      30_000,
    ),
  };
}

function inheritActions({ left, uid: from }: Predecessor): readonly SearchAction[] {
  return left
    .filter(({ isTerminating }) => !isTerminating)
    .map(({ kind, name, uid }) => ({ kind: "inherit", resource: kind, name, uid, from }));
}

/** For the status of the older object, while it still has something. */
export function handoverMessage(left: Predecessor["left"]): string {
  return `The OpenSearchCluster of this name in group opensearch.org takes over what this one has: ${namesOf(left)}. Until then this one is not deleted; if it lasts, see the status of the other one.`;
}
