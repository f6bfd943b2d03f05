import { disruptionState } from "../facts/disruption-state.ts";
import type { NodeFacts, NodeState } from "../facts/node-facts.ts";
import { awaits, type LaneRule } from "../lane.ts";
import { ephemeralOnlyCopy } from "../operation/refusals.ts";
import { searchReasons } from "../reasons.ts";
import type { PodFacts, Seen } from "../seen.ts";

const pendingPatienceMs = 5 * 60_000;
const unreadyTimeoutMs = 10 * 60_000;
const mostCrashes = 3;

/**
 * A pod that cannot run with what it was started with is replaced as soon as something else is declared: no one is a member because of
 * it, so no health is requested. Without this a bad configuration would block its own correction.
 */
export const repairBroken: LaneRule = {
  name: "repairBroken",
  decide: (seen, now) => {
    const broken = brokenNodes(seen, now)[0];
    if (broken?.pod === undefined) return undefined;
    const { name, pod } = broken;
    const note = `${name} did not run and takes the declared configuration: ${brokenBecause(pod, now) ?? ""}.`;
    return awaits(
      searchReasons.restarting,
      `${name} does not run with its old configuration and is replaced.`,
      {
        actor: "kubelet",
        actions: [
          { kind: "deletePod", node: name, uid: pod.uid },
          { kind: "record", event: { type: "Normal", reason: "NodeRestarted", action: "RepairNode", note } },
        ],
        retryAfterMs: 5_000,
      },
    );
  },
};

/** Outdated pods that will not run on their own. One whose emptyDir may hold the only copy of something stays. */
function brokenNodes(seen: NodeState, now: Date): readonly NodeFacts[] {
  const state = disruptionState(seen);
  return state.nodes.filter((node) => {
    const { pod, isOutdated, isUp, isEphemeral, isData } = node;
    if (pod === undefined || pod.isTerminating || !isOutdated || isUp) return false;
    if (isMemberOrUnknown(node, seen) || brokenBecause(pod, now) === undefined) return false;
    if (!isEphemeral || !isData) return true;
    return seen.engine.shards.isKnown && ephemeralOnlyCopy(node, state) === undefined;
  });
}

/** While the engine does not name its members, a pod that is ready may be one. */
function isMemberOrUnknown({ isMember, pod }: NodeFacts, { engine }: Pick<Seen, "engine">): boolean {
  return engine.nodes.isKnown ? isMember : pod?.isReady === true;
}

/** Why a pod counts as broken; undefined while it may still come up. */
function brokenBecause(pod: PodFacts, now: Date): string | undefined {
  const { isReady, unreadySinceMs = now.getTime(), isPending, isImageMissing, restarts } = pod;
  if (isReady) return undefined;
  if (isImageMissing) return "its image cannot be pulled";
  if (restarts >= mostCrashes) return `it crashed ${String(restarts)} times`;
  const waitedMs = now.getTime() - unreadySinceMs;
  if (isPending && waitedMs >= pendingPatienceMs) return "it was not started for five minutes";
  return waitedMs >= unreadyTimeoutMs ? "it was not ready for ten minutes" : undefined;
}
