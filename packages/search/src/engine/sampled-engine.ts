import { isDeepStrictEqual } from "node:util";

import type { ObjectRef, Timer } from "@quartermaster/runtime";

import type { EngineClient, EngineTarget } from "./engine-client.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { noFacts, projectionOf, type SampledFact } from "./engine-sample.ts";
import { rowsOf } from "./rows-of.ts";

/** A cluster whose engine is looked after. */
export interface SampledCluster {
  readonly ref: ObjectRef;
  readonly target: EngineTarget;
  /** Something is under way: looked at each 5 s instead of each 30 s. */
  readonly isOpen: boolean;
  /** What rules need besides health. */
  readonly asks: ReadonlySet<SampledFact>;
  /** Facts of which each sample asks one more, in turn (default: none). What was not asked this time holds on. */
  readonly turns?: readonly SampledFact[] | undefined;
}

/** What was read, kept or not. */
export interface SampleCost {
  readonly rows: number;
  /** An answer was not what the API promises. */
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
  /** What the last sample took to read. */
  cost: SampleCost = { rows: 0, isUnreadable: false };
  isRunning = false;
  isOver = false;
  /** The nodes as they are declared now had their time, and said nothing. */
  isLate = false;
  #timer: Timer | undefined;
  #isDueAgain = false;
  #projection = "";
  #turn = 0;
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

  /** What was known came from other nodes or under another trust. */
  connect(client: EngineClient): void {
    this.client = client;
    this.facts = noFacts;
    this.rows = 0;
    this.#first.resolve(undefined);
    this.#first = Promise.withResolvers();
    // A reconcile may have ended to wait for the first sample: it counts as a change, whatever it says.
    this.#projection = "";
  }

  /** What the next sample asks for. */
  nextAsks(): ReadonlySet<SampledFact> {
    const { asks, turns = [] } = this.cluster;
    const turn = turns[this.#turn % Math.max(1, turns.length)];
    this.#turn += 1;
    return turn === undefined ? asks : new Set([...asks, turn]);
  }

  begin(): void {
    this.isRunning = true;
  }

  askAgain(): void {
    this.#isDueAgain = true;
  }

  /** Whether somebody has asked for another sample meanwhile. */
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

  /** Whether the declaration asks for a look at once: other nodes, something begun, a fact that nobody asked for so far. */
  isChangedBy({ target, isOpen, asks }: SampledCluster): boolean {
    if (isOpen && !this.cluster.isOpen) return true;
    if ([...asks].some((fact) => !this.cluster.asks.has(fact))) return true;
    return !isDeepStrictEqual(this.cluster.target, target);
  }

  /** Whether a reconcile would see something else than before. */
  take(facts: EngineFacts, cost: SampleCost): boolean {
    this.cost = cost;
    this.facts = facts;
    this.rows = rowsOf(facts);
    this.#first.resolve(undefined);
    this.restFirst();
    const projection = projectionOf(facts);
    const isChanged = projection !== this.#projection;
    this.#projection = projection;
    return isChanged;
  }

  end(): void {
    this.isOver = true;
    this.#first.resolve(undefined);
    this.restFirst();
    this.rest();
  }
}
