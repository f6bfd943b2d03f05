import { waiting } from "@quartermaster/runtime";

import type { LaneRule } from "../lane.ts";
import { poolNames } from "../model/cluster-names.ts";
import { searchReasons } from "../reasons.ts";

/** The StatefulSet of a pool that is not declared any more and has no node left. */
export const removePools: LaneRule = {
  name: "removePools",
  answer: (seen) => {
    const declared = new Set(seen.cluster.pools.map(({ name }) => name));
    const empty = [...seen.statefulSets].find(
      ([name, { spec }]) =>
        !declared.has(name) && spec.replicas === 0 && !seen.pods.some((pod) => pod.pool === name),
    );
    if (empty === undefined) return undefined;
    const [pool, { metadata }] = empty;
    return {
      actions: [
        { kind: "deletePool", pool, uid: metadata.uid, ...poolNames(seen.cluster, { name: pool }) },
        {
          kind: "record",
          event: {
            type: "Normal",
            reason: "PoolRemoved",
            action: "RemovePool",
            note: `Pool ${pool} was removed.`,
          },
        },
      ],
      outcome: waiting(
        { reason: searchReasons.removing, message: `Pool ${pool} has no node left and is removed.` },
        1_000,
      ),
      actor: "operator",
    };
  },
};
