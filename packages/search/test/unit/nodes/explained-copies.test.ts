import { describe, expect, test } from "vitest";

import type { EngineFacts, EngineShard, ShardExplanation } from "../../../src/engine/engine-facts.ts";
import { copiesToExplain, explainCopies, readExplanation } from "../../../src/engine/explain-copies.ts";
import { disruptionState } from "../../../src/facts/disruption-state.ts";
import { decideLane } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import { restartRefusals } from "../../../src/operation/refusals.ts";
import { aRoll, managersAndData, shardOn } from "../../support/a-roll.ts";
import { known } from "../../support/a-seen.ts";

const [first, second] = ["logs-data-0", "logs-data-1"];
const half = shardOn("orders", [first, "?"]);

function explained(deciders: Readonly<Record<string, readonly string[]>>, terms = ""): ShardExplanation {
  return {
    index: "orders",
    shard: 0,
    isPrimary: false,
    node: undefined,
    nodes: Object.entries(deciders).map(([node, rules]) => ({ node, deciders: rules })),
    text: terms,
  };
}

/** What the check `settled` says of the restart of a manager. */
function settledSays(engine: Partial<EngineFacts>): string | undefined {
  const state = disruptionState(aRoll({ shards: half, engine }));
  const node = state.nodes.find(({ name }) => name === "logs-managers-1");
  if (node === undefined) throw new Error("no such node");
  return restartRefusals(node, state).find(({ check }) => check === "settled")?.message;
}

describe("copies that are not assigned", () => {
  test.for<{
    readonly name: string;
    readonly nodes: Readonly<Record<string, readonly string[]>>;
    readonly isWaitedFor: boolean;
  }>([
    {
      name: "another version on every other node",
      nodes: { [first]: ["same_shard"], [second]: ["node_version"] },
      isWaitedFor: false,
    },
    {
      name: "a full disk",
      nodes: { [first]: ["same_shard"], [second]: ["disk_threshold"] },
      isWaitedFor: false,
    },
    {
      name: "an awareness rule",
      nodes: { [first]: ["same_shard"], [second]: ["awareness"] },
      isWaitedFor: false,
    },
    {
      name: "a filter of the author's",
      nodes: { [first]: ["filter"], [second]: ["filter"] },
      isWaitedFor: false,
    },
    {
      name: "frozen by us as well, which changes nothing",
      nodes: { [first]: ["same_shard", "enable"], [second]: ["enable", "node_version"] },
      isWaitedFor: false,
    },
    {
      name: "failed five times",
      nodes: { [first]: ["same_shard"], [second]: ["max_retry"] },
      isWaitedFor: true,
    },
    {
      name: "allocation is closed",
      nodes: { [first]: ["same_shard", "enable"], [second]: ["enable"] },
      isWaitedFor: true,
    },
    {
      name: "one node could take it and is busy",
      nodes: { [first]: ["same_shard"], [second]: [] },
      isWaitedFor: true,
    },
    { name: "no node was queried", nodes: {}, isWaitedFor: true },
  ])("$name", ({ nodes, isWaitedFor }) => {
    const says = settledSays({ explanations: known([explained(nodes)]) });
    expect(says !== undefined).toBe(isWaitedFor);
  });

  test("an explanation of another shard, or none, says nothing", () => {
    const all = { [first]: ["same_shard"], [second]: ["node_version"] };
    const other = { ...explained(all), shard: 1 };
    expect(settledSays({ explanations: known([other]) })).toBeDefined();
    expect(settledSays({ explanations: { isKnown: false, why: "timeout" } })).toBeDefined();
  });

  test("a filter does not count while we exclude a node ourselves", () => {
    const persistent = { "cluster.metadata.quartermaster_excluded": second };
    const settings = known({ persistent, transient: {} });
    const explanations = known([explained({ [first]: ["same_shard"], [second]: ["filter"] })]);
    expect(settledSays({ explanations })).toBeUndefined();
    expect(settledSays({ explanations, settings })).toBeDefined();
  });

  test("the engine's reason is shown", () => {
    const nodes = { [first]: ["same_shard"], [second]: ["max_retry"] };
    const says = settledSays({ explanations: known([explained(nodes, "max_retry: failed 5 times")]) });
    expect(says).toBe("Copies of orders[0] are not assigned (max_retry: failed 5 times)");
  });

  test.for<
    readonly [string, Partial<{ readonly initializingShards: number; readonly status: "red" }>, boolean]
  >([
    ["all copies are complete", {}, true],
    ["copies are still being made elsewhere", { initializingShards: 1 }, false],
    ["a primary has no place yet", { status: "red" }, false],
  ])("[search/SC-69] a node that came back empty is removed only if %s", ([, health, isRemoved]) => {
    const operation = {
      id: "op",
      type: "Remove",
      pool: "data",
      node: "logs-data-2",
      podUid: "uid-logs-data-2",
      cause: "ScaledDown",
      step: "Shrink",
      drains: true,
      startedAt: "2026-11-17T09:00:00Z",
      shardsLeft: 0,
      drainedAt: "2026-11-17T09:59:00Z",
    } as const;
    const excluded = { "cluster.routing.allocation.exclude._name": "logs-data-2" };
    const persistent = { ...excluded, "cluster.metadata.quartermaster_excluded": "logs-data-2" };
    const shards = shardOn("orders", [first, second]);
    const base = { cluster: managersAndData(3, 2), slots: { data: 3 }, shards, status: { operation } };
    const { engine } = aRoll(base);
    if (!engine.health.isKnown) throw new Error("known");
    const seen = aRoll({
      ...base,
      engine: {
        settings: known({ persistent, transient: {} }),
        health: known({ ...engine.health.value, ...health }),
      },
    });
    const { actions } = decideLane(nodesLane, seen, new Date("2026-11-17T10:00:00Z"));
    expect(actions.some((action) => action.kind === "shrinkPool")).toBe(isRemoved);
  });

  test("[search/SC-70] a drain that is given up says why shards stay", () => {
    const operation = {
      id: "op",
      type: "Remove",
      pool: "data",
      node: "logs-data-2",
      podUid: "uid-logs-data-2",
      cause: "ScaledDown",
      step: "Drain",
      drains: true,
      startedAt: "2026-11-17T09:00:00Z",
      shardsLeft: 1,
      progressedAt: "2026-11-17T09:00:00Z",
    } as const;
    const shards = shardOn("orders", ["logs-data-2"]);
    const stays = {
      ...explained({ [first]: ["node_version"] }, "node_version: too old"),
      node: "logs-data-2",
    };
    const settings = known({
      persistent: {
        "cluster.routing.allocation.exclude._name": "logs-data-2",
        "cluster.metadata.quartermaster_excluded": "logs-data-2",
      },
      transient: {},
    });
    const seen = aRoll({
      cluster: managersAndData(3, 2),
      slots: { data: 3 },
      shards,
      status: { operation },
      engine: { settings, explanations: known([stays]) },
    });
    const { intent } = decideLane(nodesLane, seen, new Date("2026-11-17T10:00:00Z"));
    expect(intent?.stalledDrain?.message).toContain("orders[0] (node_version: too old)");
  });
});

describe("the queries to an engine", () => {
  const { engine } = aRoll({ shards: half });
  const rows = (count: number): readonly EngineShard[] =>
    Array.from({ length: count }, (_, shard) => shardOn("many", [first, "?", "?"], shard)).flat();

  test("one copy of each shard that lacks one, ten shards at most", async () => {
    const facts = { ...engine, shards: known(rows(50)) };
    expect(copiesToExplain(facts)).toHaveLength(50);
    const requested: number[] = [];
    const client = {
      explain: async (copy: EngineShard) => {
        requested.push(copy.shard);
        return await Promise.resolve({ ...explained({}), ...copy });
      },
    };
    await explainCopies(client as never, facts);
    expect(requested).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("nothing while all is green, red or moving", () => {
    const health = engine.health.isKnown ? engine.health.value : undefined;
    if (health === undefined) throw new Error("known");
    expect(copiesToExplain({ ...engine, shards: known(shardOn("orders", [first, second])) })).toEqual([]);
    expect(copiesToExplain({ ...engine, health: known({ ...health, status: "red" }) })).toEqual([]);
    expect(copiesToExplain({ ...engine, health: known({ ...health, relocatingShards: 1 }) })).toEqual([]);
    expect(copiesToExplain(engine)).toHaveLength(1);
  });

  test.each([1, 2, 3, 4])("one of each shard of %i indices, whose shards have the same numbers", (count) => {
    const indices = ["a", "b", "c", "d"].slice(0, count);
    const shards = known(indices.flatMap((index) => shardOn(index, [first, "?", "?"])));
    expect(copiesToExplain({ ...engine, shards }).map(({ index }) => index)).toEqual(indices);
  });

  test("copies on the node that we empty", () => {
    const persistent = { "cluster.metadata.quartermaster_excluded": second };
    const shards = known(shardOn("orders", [first, second]));
    const settings = known({ persistent, transient: {} });
    expect(copiesToExplain({ ...engine, shards, settings }).map(({ node }) => node)).toEqual([second]);
  });
});

describe("an explanation of a hostile engine", () => {
  const copy = { index: "orders", shard: 0, isPrimary: false, node: undefined };
  const decision = (explanation: unknown): object => ({
    node_name: "\u001b[31mred",
    deciders: [{ decider: "node\nversion", decision: "NO", explanation }],
  });
  const verdict = (decisions: readonly object[]): object => ({
    index: "orders",
    current_state: "unassigned",
    node_allocation_decisions: decisions,
  });

  test("is bounded and printable", () => {
    const { nodes, text: terms } = readExplanation(copy, verdict([decision(`${"x".repeat(10_000)}\r\n`)]));
    const text = JSON.stringify([nodes, terms]);
    expect(terms.length).toBeLessThanOrEqual(201);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    expect(nodes[0]?.node).not.toMatch(/[\u0000-\u001f]/);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    expect(terms).not.toMatch(/[\u0000-\u001f]/);
    expect(text.length).toBeLessThan(1_000);
    expect(readExplanation(copy, verdict([decision({ a: 1 })])).text).not.toContain("object");
  });

  test.for<readonly [string, unknown]>([
    ["of another index", { ...verdict([]), index: "other" }],
    ["without a state", { index: "orders" }],
    ["with more nodes than a cluster has", verdict(Array.from({ length: 501 }, () => decision("x")))],
    ["that is no object", []],
  ])("%s is not believed", ([, value]) => {
    expect(() => readExplanation(copy, value)).toThrow(/explain/);
  });
});
