import type { EngineFacts, Fact } from "./engine-facts.ts";

/**
 * Rows of one engine that are read as often as those of any other: a hundred nodes with a hundred shards each. Ten thousand take 50 ms; of an
 * engine with more each sample waits as much longer, so that what it costs in a minute stays the same.
 */
export const usualRows = 10_000;

/** Most rows that are kept in memory for all clusters of a namespace, about 25 MB. */
export const mostRows = 120_000;

/** Rows in all that an engine said. How many there are is up to it. */
export function rowsOf({ nodes, shards, settings, nodeLoad, indices, coordination }: EngineFacts): number {
  const rows = <T>(fact: Fact<T>, count: (value: T) => number): number =>
    fact.isKnown ? count(fact.value) : 0;
  const length = (table: readonly unknown[]): number => table.length;
  return (
    rows(nodes, length) +
    rows(shards, length) +
    rows(nodeLoad, length) +
    rows(indices, length) +
    rows(coordination, ({ voters, exclusions }) => voters.length + exclusions.length) +
    rows(settings, (value) => Object.keys(value.persistent).length + Object.keys(value.transient).length)
  );
}

/** Whether an answer was not what the API promises. */
export function isUnreadable(facts: EngineFacts): boolean {
  return Object.values(facts).some(
    (fact: Fact<unknown> | ReadonlyMap<string, unknown>) => "why" in fact && fact.why === "unreadable",
  );
}

/** The facts with all tables unknown: nothing is decided by a part of one. */
export function withoutTables(facts: EngineFacts): EngineFacts {
  const dropped = <T>(fact: Fact<T>): Fact<T> => (fact.isKnown ? { isKnown: false, why: "tooLarge" } : fact);
  return {
    ...facts,
    nodes: dropped(facts.nodes),
    shards: dropped(facts.shards),
    settings: dropped(facts.settings),
    nodeLoad: dropped(facts.nodeLoad),
    indices: dropped(facts.indices),
    coordination: dropped(facts.coordination),
  };
}
