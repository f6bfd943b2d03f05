import { openSearchCluster } from "@quartermaster/api";
import type { Live } from "@quartermaster/runtime";
import { configMaps, pods } from "@quartermaster/runtime/kinds";
import { type AuditPosition, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  sayReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const minute = 60_000;
const ephemeral = { persistence: { emptyDir: {} } };

/** Writes of the operator to objects of a cluster, without its own status. */
async function writesFor(
  bench: SearchBench,
  cluster: string,
  position: AuditPosition,
): Promise<readonly string[]> {
  return (await bench.writes(position))
    .filter(
      ({ resource, name = "" }) => resource !== openSearchCluster.kind.plural && name.startsWith(cluster),
    )
    .map(({ verb, resource, name = "" }) => `${verb} ${resource} ${name}`);
}

async function foundersIn({ client, namespace }: SearchBench, cluster: string): Promise<readonly unknown[]> {
  const { data } = await client.get(configMaps, { namespace, name: `${cluster}-bootstrap` });
  return Object.values(data ?? {});
}

const nodes = ["blips-nodes-0", "blips-nodes-1", "blips-nodes-2"];
const managers = ["lost-managers-0", "lost-managers-1", "lost-managers-2"];

/** Engines without a word for a minute, for three, for six: the same pods still have their disks. */
async function blink(bench: SearchBench): Promise<void> {
  const { engines } = bench;
  for (const downMs of [minute, 3 * minute, 6 * minute]) {
    for (const node of nodes) engines.down.add(node);
    await sayReady(bench, nodes, false);
    await bench.until("blips", (found) => conditionOf(found, "Available") === "False/Unreachable");
    bench.clock.advance(downMs);
    await bench.reconcile("blips", 4);
    expect(conditionOf(await bench.get("blips"), "Ready")).toBe("False/Unreachable");
    for (const node of nodes) engines.down.delete(node);
    await sayReady(bench, nodes, true);
    await bench.until("blips", isReady);
  }
}

async function untilQuorumLost(bench: SearchBench): Promise<void> {
  await eventually(async (see) => {
    await bench.reconcile("lost");
    const found = await bench.get("lost");
    see(found.status);
    return conditionOf(found, "Ready") === "False/QuorumLost" || undefined;
  });
  await bench.reconcile("lost", 3);
}

/** Everything that was done to a cluster: another UUID, a list of founders, any write but that of budgets, which follow the health. */
async function foundedAgain(
  bench: SearchBench,
  cluster: string,
  { uuid, position }: { readonly uuid: string | undefined; readonly position: AuditPosition },
): Promise<readonly unknown[]> {
  const uuids = [(await bench.get(cluster)).status?.clusterUuid, ...bench.engines.engine(cluster).uuids];
  const founders = await foundersIn(bench, cluster);
  const writes = await writesFor(bench, cluster, position);
  return [
    ...uuids.filter((each) => each !== uuid),
    ...founders.filter((each) => each !== ""),
    ...writes.filter((write) => !write.includes("poddisruptionbudgets")),
  ];
}

describe("a cluster of which the operator cannot be sure", () => {
  test("[search/SC-20] nodes report two UUIDs: it is reported with both, and nothing is deleted", async () => {
    await using bench = await setUpSearch();
    bench.engines.strangers.set("split-nodes-1", "another-cluster");
    const position = await bench.cluster.audit.position();
    await bench.apply(aCluster("split", { pools: [aPool("nodes", 3)] }));
    const isSplit = (found: Live<ClusterObject>): boolean =>
      conditionOf(found, "Ready") === "False/SplitCluster";
    expect(messageOf(await bench.until("split", isSplit))).toContain("split-nodes-1: another-cluster");
    await bench.reconcile("split", 3);
    await bench.until("split", isSplit);
    expect((await bench.writes(position)).filter(({ verb }) => verb.startsWith("delete"))).toEqual([]);
    bench.engines.strangers.clear();
    await bench.until("split", isReady);
  });

  test("[search/SC-21] [search/SC-23] readiness that comes and goes everywhere, or lost managers beside living data: nothing is founded again", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("blips", { pools: [aPool("nodes", 3, ephemeral)] }));
    await bench.apply(
      aCluster("lost", {
        pools: [
          aPool("managers", 3, { roles: ["cluster_manager"], ...ephemeral }),
          aPool("data", 1, { roles: ["data"] }),
        ],
      }),
    );
    const blips = (await bench.until("blips", isReady)).status?.clusterUuid;
    const lost = (await bench.until("lost", isReady)).status?.clusterUuid;
    const position = await bench.cluster.audit.position();
    for (const manager of managers) await client.delete(pods, { namespace, name: manager });
    await blink(bench);
    await untilQuorumLost(bench);
    expect(await foundedAgain(bench, "blips", { uuid: blips, position })).toEqual([]);
    expect(await foundedAgain(bench, "lost", { uuid: lost, position })).toEqual([]);
  });
});
