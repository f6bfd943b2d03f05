import { isDeepStrictEqual } from "node:util";

import type { ObjectRef, Timer } from "@quartermaster/runtime";

import type { EngineClient, EngineTarget } from "./engine-client.ts";
import type { EngineFacts, Fact } from "./engine-facts.ts";
import { noFacts, projectionOf, type SampledFact } from "./engine-sample.ts";

/** A cluster whose engine is managed. */
export interface SampledCluster {
  readonly ref: ObjectRef;
  readonly target: EngineTarget;
  /** Something is in progress: looked at each 5 s instead of each 30 s. */
  readonly isOpen: boolean;
  /** Facts that rules need besides health. */
  readonly facts: ReadonlySet<SampledFact>;
  /** Facts of which each sample queries one more, in turn (default: none). The others stay valid. */
  readonly turns?: readonly SampledFact[] | undefined;
  /** What others may change: listed once in ten minutes, also while nothing is open (default: nothing). What was listed holds on. */
  readonly lists?: readonly ListedFact[] | undefined;
}

/** When lists are due. */
interface ListTimes {
  readonly nowMs: number;
  readonly listMs: number;
}

/** Facts that are lists of entries of others and ours. */
export type ListedFact = "settings" | "repositories";

/** What was read, kept or not. */
export interface SampleCost {
  readonly rows: number;
  /** A response was not what the API promises. */
  readonly isUnreadable: boolean;
}

/** One cluster under the sampler's eyes. */
export class SampledEngine {
  readonly key: string;
  cluster: SampledCluster;
  client: EngineClient;
  facts: EngineFacts = noFacts;
  /** How much is kept of it. */
  rows = 0;
  /** Cost of reading the last sample. */
  cost: SampleCost = { rows: 0, isUnreadable: false };
  isRunning = false;
  isFinished = false;
  /** The declared nodes had their time, and did not respond. */
  isLate = false;
  #timer: Timer | undefined;
  #isDueAgain = false;
  #projection = "";
  #turn = 0;
  readonly #listedMs = new Map<ListedFact, number>();
  #first = Promise.withResolvers<undefined>();
  #firstTimer: Timer | undefined;

  constructor(key: string, cluster: SampledCluster, client: EngineClient) {
    this.key = key;
    this.cluster = cluster;
    this.client = client;
  }

  /** Resolves with the first sample of the nodes as they are declared now. */
  get first(): Promise<undefined> {
    return this.#first.promise;
  }

  /** The time of the nodes as they are declared now begins. */
  expectFirst(start: (giveUp: () => void) => Timer): void {
    this.restFirst();
    this.isLate = false;
    this.#firstTimer = start(() => {
      this.isLate = true;
    });
  }

  restFirst(): void {
    this.#firstTimer?.cancel();
    this.#firstTimer = undefined;
  }

  declare(cluster: SampledCluster): void {
    this.cluster = cluster;
  }

  /** Earlier facts came from other nodes or under another trust. */
  connect(client: EngineClient): void {
    this.client = client;
    this.facts = noFacts;
    this.rows = 0;
    this.#first.resolve(undefined);
    this.#first = Promise.withResolvers();
    // A reconcile may have ended to wait for the first sample: it counts as a change, whatever it says.
    this.#projection = "";
  }

  /** What the next sample asks for: of lists the first one that is due, so that one sample is one request more at most. */
  nextFacts({ nowMs, listMs }: ListTimes): ReadonlySet<SampledFact> {
    const { facts: required, turns = [], lists = [] } = this.cluster;
    const turn = turns[this.#turn % Math.max(1, turns.length)];
    this.#turn += 1;
    const list = lists.find((name) => nowMs - (this.#listedMs.get(name) ?? -Infinity) >= listMs);
    return new Set([
      ...required,
      ...(turn === undefined ? [] : [turn]),
      ...(list === undefined ? [] : [list]),
    ]);
  }

  begin(): void {
    this.isRunning = true;
  }

  resampleAfter(): void {
    this.#isDueAgain = true;
  }

  /** Whether another sample was requested meanwhile. */
  finish(): boolean {
    const isDueAgain = this.#isDueAgain;
    this.isRunning = false;
    this.#isDueAgain = false;
    return isDueAgain;
  }

  waitFor(timer: Timer): void {
    this.#timer = timer;
  }

  rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Whether the declaration needs an immediate sample: other nodes, something begun, a fact that was not needed so far. */
  isChangedBy({ target, isOpen, facts: required }: SampledCluster): boolean {
    if (isOpen && !this.cluster.isOpen) return true;
    if ([...required].some((fact) => !this.cluster.facts.has(fact))) return true;
    return !isDeepStrictEqual(this.cluster.target, target);
  }

  /** Whether a reconcile would see something else than before. */
  take(facts: EngineFacts, cost: SampleCost): boolean {
    this.cost = cost;
    this.facts = facts;
    this.rows = rowsOf(facts);
    for (const name of this.cluster.lists ?? []) {
      const list = facts[name];
      if (list.isKnown) this.#listedMs.set(name, list.atMs);
    }
    this.#first.resolve(undefined);
    this.restFirst();
    const projection = projectionOf(facts);
    const isChanged = projection !== this.#projection;
    this.#projection = projection;
    return isChanged;
  }

  end(): void {
    this.isFinished = true;
    this.#first.resolve(undefined);
    this.restFirst();
    this.rest();
  }
}

/**
 * Rows of one engine that are read as often as those of any other: a hundred nodes with a hundred shards each. Ten thousand take 50 ms; of an
 * engine with more each sample waits as much longer, so that what it costs in a minute stays the same.
 */
export const usualRows = 10_000;

/** Most rows that are kept in memory for all clusters of a namespace, about 25 MB. */
export const mostRows = 120_000;

/** Number of rows in a sample. The engine determines it. */
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

/** Whether a response was not what the API promises. */
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
