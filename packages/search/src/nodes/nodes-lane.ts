import { held, settled } from "@quartermaster/runtime";

import { isLicenseExpired } from "../engine/engine-facts.ts";
import { type NodeFacts, nodeFacts } from "../facts/node-facts.ts";
import { claimsGoing } from "../formation/mounted-claims.ts";
import { awaits, decideLane, type LaneRule, refuses, type SearchLane } from "../lane.ts";
import { outsideWindow } from "../maintenance/outside-window.ts";
import { missingReferences } from "../material/spec-references.ts";
import { blockedPools } from "../pools/pools-lane.ts";
import { searchReasons } from "../reasons.ts";
import { continueRemoval } from "../removal/continue-removal.ts";
import { removalRefused, removeNodes } from "../removal/remove-nodes.ts";
import { removePools } from "../removal/remove-pools.ts";
import { lostVoters } from "../repair/lost-voters.ts";
import { repairBroken } from "../repair/repair-broken.ts";
import { continueRestart } from "../restart/continue-restart.ts";
import { restartOutdated } from "../restart/restart-outdated.ts";
import type { Seen } from "../seen.ts";

/** For so long a cluster may be without a manager before its disks are looked at. */
const quorumPatienceMs = 5 * 60_000;

function isFormed({ status }: Seen): boolean {
  return status.clusterUuid !== undefined;
}

const awaitFormation: LaneRule = {
  name: "notFormed",
  answer: (seen) => (isFormed(seen) ? undefined : { actions: [], outcome: settled() }),
};

const quorumLost: LaneRule = {
  name: "quorumLost",
  answer: (seen, now) => {
    const { engine, status } = seen;
    if (engine.coordination.isKnown) return undefined;
    const { voters, lost } = lostVoters(seen);
    if (lost.length * 2 < voters.length || lost.length === 0) return undefined;
    const since = status.conditions?.find(({ type }) => type === "Available");
    const isSure =
      since?.status === "False" && now.getTime() - Date.parse(since.lastTransitionTime) >= quorumPatienceMs;
    if (!isSure) return undefined;
    return refuses(
      searchReasons.quorumLost,
      `The disks of ${String(lost.length)} of ${String(voters.length)} voting managers are gone (${lost.join(", ")}), and without a majority no manager is elected. Nothing is written: see "Quorum lost" in the troubleshooting guide.`,
    );
  },
};

const unreachable: LaneRule = {
  name: "unreachable",
  answer: ({ engine }) => {
    if (engine.health.isKnown || isLicenseExpired(engine)) return undefined;
    return awaits(
      searchReasons.unreachable,
      `No node of the cluster answers the operator: ${engine.health.why}.`,
      { actor: "engine", retryAfterMs: 10_000 },
    );
  },
};

const memberMissing: LaneRule = {
  name: "memberMissing",
  answer: (seen, now) => {
    const missing = missingNodes(seen, now);
    if (missing.length === 0) return undefined;
    return awaits(
      searchReasons.memberMissing,
      `${missing.slice(0, 5).join("; ")}${missing.length > 5 ? ` and ${String(missing.length - 5)} more` : ""}.`,
      { actor: "kubelet", retryAfterMs: 10_000 },
    );
  },
};

/** Each declared node that is not a ready member, with what is known of it. The only one is left to a restart if that may help. */
function missingNodes(seen: Seen, now: Date): readonly string[] {
  const blocked = blockedPools(seen);
  const nodes = nodeFacts(seen).filter(
    ({ isWanted, hasPlace, pool }) => isWanted && (hasPlace || !blocked.has(pool)),
  );
  const isKnown = seen.engine.nodes.isKnown;
  // One sentence for all, which does not change with each pod that starts.
  if (!isKnown && nodes.some((node) => !wasMember(seen, node)))
    return ["The engine has not told yet who is a member"];
  const missing = nodes.filter((node) => (isKnown ? !node.isUp : !isRunning(node)));
  const [only, ...others] = missing;
  if (only?.isOutdated === true && others.length === 0 && isKnown) return [];
  const named = missing.filter((node) => wasTold(seen, node) || !isStarting(node, now)).map(missingBecause);
  return named.length === missing.length ? named : [...named, newNodes];
}

/** Nodes that start for the first time come up one by one: one sentence for all of them. */
const newNodes = "New nodes have not joined yet";

/** What the lane says while nothing is amiss but that. */
export const newNodesMessage = `${newNodes}.`;

/** After so long a node that is not ready is named. */
const startPatienceMs = 2 * 60_000;

function isStarting({ pod }: NodeFacts, now: Date): boolean {
  if (pod === undefined || pod.isTerminating || pod.trouble !== undefined) return false;
  return now.getTime() - (pod.unreadySinceMs ?? now.getTime()) < startPatienceMs;
}

/** The status said of a node of this name that it was a member. */
function wasTold({ status }: Seen, { name }: NodeFacts): boolean {
  return status.nodes?.some((told) => told.name === name && told.member === true) === true;
}

/** The status said of this very pod that it is a member: of a cluster that is as declared the engine is not asked again. */
function wasMember({ status }: Seen, { name, pod }: NodeFacts): boolean {
  const told = status.nodes?.find((each) => each.name === name);
  return told?.member === true && told.podUid === pod?.uid;
}

function isRunning({ pod }: NodeFacts): boolean {
  return pod?.isReady === true && !pod.isTerminating;
}

function missingBecause({ name, pod, isMember }: NodeFacts): string {
  if (pod === undefined) return `${name} has no pod`;
  if (pod.trouble !== undefined) return `${name}: ${pod.trouble}`;
  if (pod.isTerminating) return `${name} is terminating`;
  return pod.isReady && !isMember ? `${name} is not a member of the cluster` : `${name} is not ready`;
}

/** The lane of pools says which nodes are not added and why. Before they have joined none is removed or restarted. */
const poolsBlocked: LaneRule = {
  name: "poolsBlocked",
  answer: (seen) => (blockedPools(seen).size === 0 ? undefined : { actions: [], outcome: settled() }),
};

/**
 * A pod that is started again would wait for a Secret that is missing, or start with less than it has now; or its claim, which is being
 * deleted, goes with it. Other lanes name both.
 */
const restartIfSafe: LaneRule = {
  name: restartOutdated.name,
  answer: (seen, now) => {
    const isSafe =
      missingReferences(seen.material.missing).length === 0 && claimsGoing(seen.claims).length === 0;
    return isSafe ? restartOutdated.answer(seen, now) : undefined;
  },
};

const clusterRed: LaneRule = {
  name: "clusterRed",
  answer: ({ engine }) =>
    engine.health.isKnown && engine.health.value.status === "red"
      ? awaits(searchReasons.clusterRed, "The health is red: primary shards are missing.", {
          actor: "engine",
          retryAfterMs: 10_000,
        })
      : undefined,
};

/** Nodes go on with the version that they run. */
const heldVersion: LaneRule = {
  name: "heldVersion",
  answer: ({ heldVersion: wanted, cluster }) =>
    wanted === undefined
      ? undefined
      : {
          actions: [],
          outcome: held({
            reason: searchReasons.notSupportedYet,
            message: `The nodes run version ${cluster.version} and go on with it: the operator does not upgrade to ${wanted} yet. All other changes are carried out.`,
          }),
          actor: "user",
        },
};

/**
 * Nodes that restart one at a time would not understand each other or their clients meanwhile, and users that come from files are made
 * only once: nodes go on with TLS as they were started.
 */
const heldTls: LaneRule = {
  name: "heldTls",
  answer: ({ heldTls: wanted }) =>
    wanted === undefined
      ? undefined
      : {
          actions: [],
          outcome: held({
            reason: searchReasons.notSupportedYet,
            message: `TLS of a cluster that has formed is not switched: spec.security.tls asks for ${wanted}, and the nodes go on as they were started. Set it back, or move the data to a new cluster by a snapshot. All other changes are carried out.`,
          }),
          actor: "user",
        },
};

const complete: LaneRule = { name: "complete", answer: () => ({ actions: [], outcome: settled() }) };

/** What is begun while no operation is under way. */
const withoutOperation: readonly LaneRule[] = [
  unreachable,
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
 * The one operation goes on before anything else is begun: two at a time are not possible. Where it ends, the next one is declared with
 * the same write of the status.
 */
const continueOperation: LaneRule = {
  name: "continueOperation",
  answer: (seen, now) => {
    const { operation, ...status } = seen.status;
    if (operation === undefined) return undefined;
    const answer =
      operation.type === "Restart"
        ? continueRestart(operation, seen, now)
        : continueRemoval(operation, seen, now);
    if (answer.intent === undefined || answer.intent.operation !== undefined) return answer;
    const { rule, ...next } = decideLane(
      { name: "nodes", rules: withoutOperation },
      { ...seen, status },
      now,
    );
    return {
      ...next,
      // The next operation goes on under the name that the following reconciles give it.
      ...(next.intent?.operation === undefined ? { rule } : {}),
      actions: [...answer.actions, ...next.actions],
      intent: { ...answer.intent, ...next.intent },
    };
  },
};

/** Nodes of a cluster that has formed. */
export const nodesLane: SearchLane = {
  name: "nodes",
  rules: [awaitFormation, quorumLost, repairBroken, continueOperation, ...withoutOperation],
};
