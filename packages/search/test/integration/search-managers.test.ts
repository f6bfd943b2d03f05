import type { Live } from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { operateWatched } from "../support/disruptions.ts";
import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

const data = aPool("data", 1, { roles: ["data"] });

function sized(managers: number, general: object = {}): object {
  return aCluster("logs", {
    pools: [aPool("managers", managers, { roles: ["cluster_manager"] }), data],
    general,
  });
}

async function podUids({ client, namespace }: SearchBench): Promise<ReadonlyMap<string, string>> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return new Map(list.map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** Waits for a demand, and counts the looks at which there was no manager. */
async function untilLed(
  bench: SearchBench,
  demand: (found: Live<ClusterObject>) => boolean,
): Promise<number> {
  let leaderless = 0;
  await bench.until("logs", (found) => {
    if (!bench.engines.engine("logs").isLed()) leaderless += 1;
    return demand(found);
  });
  return leaderless;
}

function byNode(
  one: { readonly nodes: readonly string[] },
  other: { readonly nodes: readonly string[] },
): number {
  return one.nodes.join().localeCompare(other.nodes.join());
}

function isRolled(found: Live<ClusterObject>): boolean {
  const { operation, nodePools = [] } = found.status ?? {};
  return isReady(found) && operation === undefined && nodePools.every(({ outdated }) => outdated === 0);
}

describe("few managers", () => {
  test("[search/SC-14] [search/SC-44] two form a cluster; in a roll both restart, the vote is moved first, and there is a manager all the time", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using operator = await operateWatched(bench);
    await bench.apply(sized(2));
    const formed = await bench.until("logs", isReady);
    const before = await podUids(bench);
    const position = await bench.cluster.audit.position();
    await bench.apply(sized(2, { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } }));
    expect(await untilLed(bench, isRolled)).toBe(0);
    const after = await podUids(bench);
    expect([...before.keys()].filter((name) => before.get(name) === after.get(name))).toEqual([]);
    const deleted = (await bench.writes(position)).filter(
      ({ verb, resource }) => verb === "delete" && resource === "pods",
    );
    expect(deleted.map(({ name = "" }) => name).toSorted()).toEqual([...before.keys()].toSorted());
    // When a manager goes, the other one has the vote and is up.
    const ofManagers = operator.disruptions.filter(({ nodes: [node = ""] }) => node.includes("managers"));
    expect(ofManagers.map(({ nodes, voters, away }) => ({ nodes, voters, away })).toSorted(byNode)).toEqual([
      { nodes: ["logs-managers-0"], voters: ["logs-managers-1"], away: [] },
      { nodes: ["logs-managers-1"], voters: ["logs-managers-0"], away: [] },
    ]);
    const engine = bench.engines.engine("logs");
    expect(engine.exclusions()).toEqual([]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    expect((await bench.get("logs")).status?.clusterUuid).toBe(formed.status?.clusterUuid);
  });

  test("[search/SC-62] three go to one: votes leave first, there is a manager all the time, and it is the same cluster", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using operator = await operateWatched(bench);
    await bench.apply(sized(3));
    const formed = await bench.until("logs", isReady);
    await bench.apply(sized(1));
    const leaderless = await untilLed(
      bench,
      (found) => isRolled(found) && found.status?.availableNodes === 2,
    );
    expect(leaderless).toBe(0);
    const one = await bench.get("logs");
    expect(one.status?.clusterUuid).toBe(formed.status?.clusterUuid);
    expect(one.status?.nodes?.filter(({ voter }) => voter === true).map(({ name }) => name)).toEqual([
      "logs-managers-0",
    ]);
    // The manager that goes has no vote any more, and all others are up.
    expect(operator.disruptions.map(({ by, nodes, away }) => ({ by, nodes, away }))).toEqual([
      { by: "shrink", nodes: ["logs-managers-2"], away: [] },
      { by: "shrink", nodes: ["logs-managers-1"], away: [] },
    ]);
    expect(
      operator.disruptions.filter(({ nodes, voters }) => nodes.some((node) => voters.includes(node))),
    ).toEqual([]);
    expect(bench.engines.engine("logs").exclusions()).toEqual([]);
    expect([...(await podUids(bench)).keys()].toSorted()).toEqual(["logs-data-0", "logs-managers-0"]);
  });
});
