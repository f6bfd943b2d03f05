import { type NodeFacts, nodeFacts } from "../facts/node-facts.ts";
import { awaits, type LaneRule } from "../lane.ts";
import { blockedPools } from "../pools/pools-lane.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";

/** Declared nodes that are not members yet, or no longer. No operation begins before they are. */
export const memberMissing: LaneRule = {
  name: "memberMissing",
  decide: (seen, now) => {
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
    ({ isWanted, hasSlot, pool }) => isWanted && (hasSlot || !blocked.has(pool)),
  );
  const isKnown = seen.engine.nodes.isKnown;
  // One sentence for all, which does not change with each pod that starts.
  if (!isKnown && nodes.some((node) => !wasMember(seen, node)))
    return ["The engine has not reported its members yet"];
  const missing = nodes.filter((node) => (isKnown ? !node.isUp : !isRunning(node)));
  const [only, ...others] = missing;
  if (only?.isOutdated === true && others.length === 0 && isKnown) return [];
  const named = missing
    .filter((node) => wasReported(seen, node) || !isStarting(node, now))
    .map(missingBecause);
  return named.length === missing.length ? named : [...named, newNodes];
}

/** Nodes that start for the first time come up one by one: one sentence for all of them. */
const newNodes = "New nodes have not joined yet";

export const newNodesMessage = `${newNodes}.`;

/** After so long a node that is not ready is named. */
const startTimeoutMs = 2 * 60_000;

function isStarting({ pod }: NodeFacts, now: Date): boolean {
  if (pod === undefined || pod.isTerminating || pod.trouble !== undefined) return false;
  return now.getTime() - (pod.unreadySinceMs ?? now.getTime()) < startTimeoutMs;
}

/** The status reported a node of this name as a member. */
function wasReported({ status }: Seen, { name }: NodeFacts): boolean {
  return status.nodes?.some((reported) => reported.name === name && reported.member === true) === true;
}

/** The status reported this very pod as a member: of a cluster that is as declared the engine is not queried again. */
function wasMember({ status }: Seen, { name, pod }: NodeFacts): boolean {
  const reported = status.nodes?.find((each) => each.name === name);
  return reported?.member === true && reported.podUid === pod?.uid;
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
