import { describe, expect, test } from "vitest";

import { readFacts } from "../../../src/engine/read-facts.ts";

const counts = [1, 2, 3, 4] as const;

/** `a`, `b`, … up to the number. */
const letters = (count: number): readonly string[] => ["a", "b", "c", "d"].slice(0, count);

const entries = <T>(count: number, valueOf: (name: string, at: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(letters(count).map((name, at) => [`i${name}`, valueOf(name, at)]));

/** The state of a cluster of so many nodes, the last one elected. */
const stateOf = (count: number) => ({
  cluster_name: "c",
  cluster_uuid: "U",
  cluster_manager_node: `i${letters(count).at(-1) ?? ""}`,
  nodes: entries(count, (name) => ({ name })),
});

describe.each(counts)("what an engine says of %i", (count) => {
  test("nodes, of which one is elected", () => {
    const nodes = entries(count, (name) => ({ name, version: "2.19.4", roles: ["data", "master"] }));
    const info = { _nodes: { total: count, failed: 0 }, cluster_name: "c", nodes };
    const found = readFacts.nodes(info, stateOf(count));
    expect(found.map(({ name, isElected }) => [name, isElected])).toEqual(
      letters(count).map((name, at) => [name, at === count - 1]),
    );
    expect(found.map(({ roles }) => roles)).toEqual(letters(count).map(() => ["data", "cluster_manager"]));
  });

  test("voters, and as many that are excluded", () => {
    const metadata = {
      cluster_coordination: {
        last_committed_config: letters(count).map((name) => `i${name}`),
        voting_config_exclusions: letters(count).map((name) => ({ node_id: `i${name}`, node_name: name })),
      },
    };
    expect(readFacts.coordination({ ...stateOf(count), metadata })).toEqual({
      clusterUuid: "U",
      voters: letters(count),
      exclusions: letters(count),
      elected: letters(count).at(-1),
    });
  });

  test("indices, each with as many shards and copies", () => {
    const copiesOf = (index: string, shard: number): object[] =>
      letters(count).map((node, at) => ({
        index,
        shard,
        primary: at === 0,
        state: "STARTED",
        node: `i${node}`,
      }));
    const indices = entries(count, (name) => ({
      shards: Object.fromEntries(letters(count).map((_each, shard) => [shard, copiesOf(name, shard)])),
    }));
    const rows = readFacts.shards({ ...stateOf(count), routing_table: { indices } });
    const want = letters(count).flatMap((index) =>
      letters(count).flatMap((_each, shard) => letters(count).map((node) => `${index} ${shard} ${node}`)),
    );
    expect(rows.map(({ index, shard, node }) => `${index} ${shard} ${node ?? ""}`)).toEqual(want);
    expect(rows.filter(({ isPrimary }) => isPrimary)).toHaveLength(count * count);
  });

  test("settings that last and as many that do not", () => {
    const settings = (value: unknown) => entries(count, () => value);
    const texts = (value: string) => entries(count, () => value);
    expect(readFacts.settings({ persistent: settings(["a", "b"]), transient: settings(1) })).toEqual({
      persistent: texts("a,b"),
      transient: texts("1"),
    });
  });

  test("nodes under load, each with as many indices", () => {
    const shards = entries(count, () => letters(count).map(() => ({})));
    const nodes = entries(count, (name, at) => ({
      name,
      indices: { docs: { count: at }, store: { size_in_bytes: at }, shards },
      fs: { total: { total_in_bytes: 10, available_in_bytes: 5 } },
      jvm: { mem: { heap_used_percent: 1 } },
      process: { cpu: { percent: -1 } },
    }));
    const found = readFacts.nodeLoad({ _nodes: { total: count, failed: 0 }, nodes });
    expect(found.map((node) => [node.node, node.shards, node.documents, node.cpuPercent])).toEqual(
      letters(count).map((name, at) => [name, count * count, at, undefined]),
    );
  });

  test("indices with their replicas", () => {
    const indices = entries(count, (_name, at) => ({
      settings: { index: { number_of_replicas: String(at) } },
    }));
    expect(readFacts.indices(indices).map(({ name, replicas }) => [name, replicas])).toEqual(
      letters(count).map((name, at) => [`i${name}`, at]),
    );
  });
});

test("a copy on its way counts where it is and where it goes", () => {
  const copy = {
    index: "x",
    shard: 0,
    primary: true,
    state: "RELOCATING",
    node: "ia",
    relocating_node: "ib",
  };
  const indices = { x: { shards: { 0: [copy] } } };
  const rows = readFacts.shards({ ...stateOf(2), routing_table: { indices } });
  expect(rows.map(({ state, node }) => [state, node])).toEqual([
    ["RELOCATING", "a"],
    ["INITIALIZING", "b"],
  ]);
});
