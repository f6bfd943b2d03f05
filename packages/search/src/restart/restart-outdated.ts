import { disruptionWorld } from "../facts/disruption-world.ts";
import type { NodeFacts } from "../facts/node-facts.ts";
import { quorumWithout } from "../facts/quorum-without.ts";
import { awaits, type LaneRule } from "../lane.ts";
import { declareOperation } from "../operation/operation.ts";
import { isUnknown, refusalText, restartRefusals } from "../operation/refusals.ts";
import { searchReasons } from "../reasons.ts";
import { canDrain } from "../removal/removal-precheck.ts";
import { restartOrder } from "./restart-order.ts";

/** Restarts one node whose pod is outdated: the first in order against which nothing speaks. */
export const restartOutdated: LaneRule = {
  name: "restartOutdated",
  answer: (seen, now) => {
    const world = disruptionWorld(seen);
    const candidates = restartOrder(world.nodes);
    const [first] = candidates;
    if (first === undefined) return undefined;
    const drains = (node: NodeFacts): boolean =>
      seen.cluster.drainsBeforeRestart && node.isMember && canDrain(node, { seen, world });
    const chosen = candidates.find(
      (node) => restartRefusals(node, world, { drains: drains(node) }).length === 0,
    );
    if (chosen?.pod !== undefined)
      return declareOperation(
        {
          type: "Restart",
          pool: chosen.pool,
          node: chosen.name,
          podUid: chosen.pod.uid,
          cause: "the declared configuration is newer than the pod",
          ...(drains(chosen) ? { drains: true } : {}),
          ...(quorumWithout(chosen, world) === "survivesIfMoved" ? { movesVote: true } : {}),
        },
        now,
      );
    const refusals = restartRefusals(first, world);
    return awaits(
      isUnknown(refusals) ? searchReasons.restarting : searchReasons.restartRefused,
      `${first.name} is not restarted yet. ${refusalText(refusals)}.`,
      { actor: isUnknown(refusals) ? "engine" : "user", retryAfterMs: 10_000 },
    );
  },
};
