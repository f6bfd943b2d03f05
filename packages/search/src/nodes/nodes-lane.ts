import { isLicenseExpired } from "../engine/engine-facts.ts";
import { claimsGoing } from "../formation/mounted-claims.ts";
import { awaits, decideLane, holds, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import { outsideWindow } from "../maintenance/outside-window.ts";
import { missingReferences } from "../material/spec-references.ts";
import { blockedPools } from "../pools/pools-lane.ts";
import { searchReasons } from "../reasons.ts";
import { continueRemoval } from "../removal/continue-removal.ts";
import { removalRefused, removeNodes, removePools } from "../removal/remove-nodes.ts";
import { memberMissing } from "../repair/member-missing.ts";
import { quorumLost } from "../repair/quorum-lost.ts";
import { repairBroken } from "../repair/repair-broken.ts";
import { continueRestart } from "../restart/continue-restart.ts";
import { restartOutdated } from "../restart/restart-outdated.ts";
import type { Seen } from "../seen.ts";

function isFormed({ status }: Seen): boolean {
  return status.clusterUuid !== undefined;
}

const awaitFormation: LaneRule = {
  name: "notFormed",
  decide: (seen) => (isFormed(seen) ? undefined : nothingToDo),
};

const engineUnreachable: LaneRule = {
  name: "unreachable",
  decide: ({ engine }) => {
    if (engine.health.isKnown || isLicenseExpired(engine)) return undefined;
    return awaits(
      searchReasons.unreachable,
      `No node of the cluster responds to the operator: ${engine.health.why}.`,
      { actor: "engine", retryAfterMs: 10_000 },
    );
  },
};

/** The lane of pools says which nodes are not added and why. Before they have joined none is removed or restarted. */
const poolsBlocked: LaneRule = {
  name: "poolsBlocked",
  decide: (seen) => (blockedPools(seen).size === 0 ? undefined : nothingToDo),
};

/**
 * A pod that is started again would wait for a Secret that is missing, or start with less than it has now; or its claim, which is being
 * deleted, goes with it. Other lanes name both.
 */
const restartIfSafe: LaneRule = {
  name: restartOutdated.name,
  decide: (seen, now) => {
    const isSafe =
      missingReferences(seen.material.missing).length === 0 && claimsGoing(seen.claims).length === 0;
    return isSafe ? restartOutdated.decide(seen, now) : undefined;
  },
};

const clusterRed: LaneRule = {
  name: "clusterRed",
  decide: ({ engine }) =>
    engine.health.isKnown && engine.health.value.status === "red"
      ? awaits(searchReasons.clusterRed, "The health is red: primary shards are missing.", {
          actor: "engine",
          retryAfterMs: 10_000,
        })
      : undefined,
};

/** Nodes continue with the version that they run. */
const heldVersion: LaneRule = {
  name: "heldVersion",
  decide: ({ heldVersion: wanted, cluster }) =>
    wanted === undefined
      ? undefined
      : holds(
          searchReasons.notSupportedYet,
          `The nodes run version ${cluster.version} and continue with it: the operator does not upgrade to ${wanted} yet. All other changes are carried out.`,
        ),
};

/**
 * Nodes that restart one at a time would not understand each other or their clients meanwhile, and users that come from files are made
 * only once: nodes continue with TLS as they were started.
 */
const heldTls: LaneRule = {
  name: "heldTls",
  decide: ({ heldTls: wanted }) =>
    wanted === undefined
      ? undefined
      : holds(
          searchReasons.notSupportedYet,
          `TLS of a cluster that has formed is not switched: spec.security.tls requests ${wanted}, and the nodes continue as they were started. Set it back, or move the data to a new cluster by a snapshot. All other changes are carried out.`,
        ),
};

const complete: LaneRule = { name: "complete", decide: () => nothingToDo };

/** Operations that begin while none is in progress. */
const withoutOperation: readonly LaneRule[] = [
  engineUnreachable,
  memberMissing,
  poolsBlocked,
  removePools,
  outsideWindow,
  removeNodes,
  restartIfSafe,
  clusterRed,
  removalRefused,
  heldVersion,
  heldTls,
  complete,
];

/**
 * The one operation continues before anything else is begun: two at a time are not possible. Where it ends, the next one is declared with
 * the same write of the status.
 */
const continueOperation: LaneRule = {
  name: "continueOperation",
  decide: (seen, now) => {
    const { operation, ...status } = seen.status;
    if (operation === undefined) return undefined;
    const decision =
      operation.type === "Restart"
        ? continueRestart(operation, seen, now)
        : continueRemoval(operation, seen, now);
    if (decision.intent === undefined || decision.intent.operation !== undefined) return decision;
    const { rule, ...next } = decideLane(
      { name: "nodes", rules: withoutOperation },
      { ...seen, status },
      now,
    );
    return {
      ...next,
      // The next operation continues under the name that the following reconciles give it.
      ...(next.intent?.operation === undefined ? { rule } : {}),
      actions: [...decision.actions, ...next.actions],
      intent: { ...decision.intent, ...next.intent },
    };
  },
};

/** Nodes of a cluster that has formed. */
export const nodesLane: SearchLane = {
  name: "nodes",
  rules: [awaitFormation, quorumLost, repairBroken, continueOperation, ...withoutOperation],
};
