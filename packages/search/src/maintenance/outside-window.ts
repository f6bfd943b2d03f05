import { outdatedPods } from "../facts/node-facts.ts";
import { awaits, type LaneRule } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { isInsideWindow } from "./is-inside-window.ts";

/** How often it is looked whether a window has opened. */
const observationMs = 60_000;

/** Whether a node may be taken away although nothing is broken. An author may do without the check. */
export function mayDisrupt({ cluster }: Pick<Seen, "cluster">, now: Date): boolean {
  return cluster.requests.skipChecks.includes("insideWindow") || isInsideWindow(cluster.windows, now);
}

/**
 * Nothing voluntary is begun outside of the author's windows: no restart for a new configuration, no removal. Broken pods are repaired,
 * nodes added and certificates renewed at any time.
 */
export const outsideWindow: LaneRule = {
  name: "outsideWindow",
  decide: (seen, now) => {
    if (!isDisruptionWanted(seen) || mayDisrupt(seen, now)) return undefined;
    return awaits(
      searchReasons.outsideWindow,
      "Nodes are to be restarted or removed, which waits for a window of spec.operations.windows.",
      { actor: "operator", retryAfterMs: observationMs },
    );
  },
};

function isDisruptionWanted(seen: Seen): boolean {
  const { statefulSets, cluster } = seen;
  return (
    outdatedPods(seen).length > 0 ||
    [...statefulSets].some(
      ([name, { spec }]) =>
        (spec.replicas ?? 0) > (cluster.pools.find((pool) => pool.name === name)?.replicas ?? 0),
    )
  );
}
