import { isDeepStrictEqual } from "node:util";

import {
  aborted,
  type Log,
  NotYetKnownError,
  type ObjectRef,
  type Signals,
  type System,
} from "@quartermaster/runtime";

import { boundedEngine, reconcileWaitMs } from "./bounded-engine.ts";
import type { ConnectEngine, EngineClient } from "./engine-client.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { engineSample, freshFacts, keepFacts, keepTurns, noFacts } from "./engine-sample.ts";
import {
  isUnreadable,
  mostRows,
  rowsOf,
  type SampledCluster,
  SampledEngine,
  usualRows,
  withoutTables,
} from "./sampled-engine.ts";

/** How the sampler works. */
export interface EngineSamplerOptions {
  readonly system: Pick<System, "monotonicMs" | "setTimer" | "random">;
  readonly connect: ConnectEngine;
  readonly log: Log;
  /** Default: 30 s. */
  readonly settledMs?: number | undefined;
  /** Default: 5 s. */
  readonly openMs?: number | undefined;
  /** Between two lists of one kind (default: 9 min, so that the next sample comes within ten). */
  readonly listMs?: number | undefined;
  /** Samples that run at the same time (default: 16). One that takes longer than 2 s does not count any more. */
  readonly concurrency?: number | undefined;
  /** Called with what each sample found. True: the object is to be looked at, although nothing else has changed. */
  readonly onSample?: ((key: string, facts: EngineFacts) => boolean) | undefined;
}

type Defaulted<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

function wakesNone(): boolean {
  return false;
}

const slowMs = 2_000;
/** Longer than a node takes to say nothing. */
const firstWaitMs = 10_000;
const promptMs = 200;

/** Requests of one list, as a share of the samples: one in eighteen, and some more. */
const listShare = 0.07;

/** Intervals get up to so much longer, so that clusters do not keep in step. */
const jitter = 0.1;

/**
 * Manages the engines, which have no watch, outside of the work queue: one sample per cluster at a time, and an object is woken
 * only when what it would see has changed. A reconcile calls `keep` and reads `facts`; for the calls of its writes it takes `bounded`.
 */
export class EngineSampler {
  readonly #options: Defaulted<EngineSamplerOptions>;
  readonly #clusters = new Map<string, SampledEngine>();
  readonly #waiting: SampledEngine[] = [];
  #busy = 0;
  #wake: ((ref: ObjectRef) => void) | undefined;

  constructor(options: EngineSamplerOptions) {
    const { settledMs = 30_000, openMs = 5_000, listMs = 9 * 60_000 } = options;
    const { concurrency = 16, onSample = wakesNone } = options;
    this.#options = { ...options, settledMs, openMs, listMs, concurrency, onSample };
  }

  /** Number of clusters that are managed. */
  get size(): number {
    return this.#clusters.size;
  }

  /** For the controller: samples while this replica leads. */
  readonly signals: Signals = async (wake, signal) => {
    this.#wake = wake;
    for (const sampled of this.#clusters.values()) {
      if (sampled.facts === noFacts) this.#expectFirst(sampled);
      this.#due(sampled);
    }
    await aborted(signal);
    this.#wake = undefined;
    this.#waiting.length = 0;
    for (const sampled of this.#clusters.values()) {
      sampled.rest();
      sampled.restFirst();
    }
  };

  /** Manages a cluster from now on, or as it is declared now. Returns the client for calls of the lanes. */
  keep(key: string, cluster: SampledCluster): EngineClient {
    const known = this.#clusters.get(key);
    if (known === undefined) {
      const sampled = new SampledEngine(key, cluster, this.#options.connect(cluster.target));
      this.#clusters.set(key, sampled);
      this.#expectFirst(sampled);
      this.#due(sampled);
      return sampled.client;
    }
    const isUrgent = known.isChangedBy(cluster);
    if (!isDeepStrictEqual(known.cluster.target, cluster.target)) this.#reconnect(known, cluster);
    known.declare(cluster);
    if (isUrgent) this.#due(known);
    return known.client;
  }

  /** Present facts; those older than twice the interval are unknown. */
  facts(key: string): EngineFacts {
    const sampled = this.#clusters.get(key);
    return sampled === undefined ? noFacts : freshFacts(sampled.facts, this.#oldestMs(sampled));
  }

  /**
   * The same, once the nodes that are known now have been queried the first time: a new operator, or one more node, must not seem
   * an engine that does not respond. An engine that responds does so while we wait here. Of others, for 10 s at most, the reconcile
   * ends here and the sample brings the object back: a worker does not wait for them.
   */
  async firstFacts(key: string): Promise<EngineFacts> {
    const sampled = this.#clusters.get(key);
    if (sampled?.facts === noFacts && !sampled.isLate) {
      const over = Promise.withResolvers<undefined>();
      const timer = this.#options.system.setTimer(promptMs, () => {
        over.resolve(undefined);
      });
      await Promise.race([sampled.first, over.promise]);
      timer.cancel();
      if (sampled.facts === noFacts) throw new NotYetKnownError("the engine's first sample");
    }
    return this.facts(key);
  }

  /** The client for the calls of one reconcile, which wait 4 s in all. */
  bounded(client: EngineClient): EngineClient {
    return boundedEngine(client, { system: this.#options.system, budgetMs: reconcileWaitMs });
  }

  /** Something was changed in the engine: what is known is old. */
  refresh(key: string): void {
    const sampled = this.#clusters.get(key);
    if (sampled !== undefined) this.#due(sampled);
  }

  /** Brings a cluster back for another reason than a sample, while this replica leads. */
  wake(ref: ObjectRef): void {
    this.#wake?.(ref);
  }

  /** Ends the connections and forgets the cluster. */
  forget(key: string): void {
    const sampled = this.#clusters.get(key);
    if (sampled === undefined) return;
    this.#clusters.delete(key);
    sampled.end();
    this.#close(sampled.client);
  }

  #reconnect(sampled: SampledEngine, { target }: SampledCluster): void {
    this.#close(sampled.client);
    sampled.connect(this.#options.connect(target));
    this.#expectFirst(sampled);
  }

  #expectFirst(sampled: SampledEngine): void {
    sampled.expectFirst((giveUp) =>
      this.#options.system.setTimer(firstWaitMs, () => {
        giveUp();
        this.#wake?.(sampled.cluster.ref);
      }),
    );
  }

  #close(client: EngineClient): void {
    client.close().catch((error: unknown) => {
      this.#options.log.warn("connections to an engine were not closed", { err: error });
    });
  }

  /** Samples as soon as there is room; a sample that runs is followed by another. */
  #due(sampled: SampledEngine): void {
    sampled.rest();
    if (this.#wake === undefined || sampled.isFinished || this.#waiting.includes(sampled)) return;
    if (sampled.isRunning) sampled.resampleAfter();
    else this.#waiting.push(sampled);
    this.#fill();
  }

  #fill(): void {
    while (this.#busy < this.#options.concurrency) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!next.isFinished) void this.#sample(next);
    }
  }

  async #sample(sampled: SampledEngine): Promise<void> {
    const release = this.#takeSlot();
    sampled.begin();
    try {
      await this.#sampleEngine(sampled);
    } catch (error) {
      this.#options.log.error("a sample of an engine failed", { err: error });
    } finally {
      release();
      this.#plan(sampled);
      this.#fill();
    }
  }

  /** A cluster that does not respond must not block others: it releases its slot after 2 s. */
  #takeSlot(): () => void {
    this.#busy += 1;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      timer.cancel();
      this.#busy -= 1;
      this.#fill();
    };
    const timer = this.#options.system.setTimer(slowMs, release);
    return release;
  }

  async #sampleEngine(sampled: SampledEngine): Promise<void> {
    const { system } = this.#options;
    const { client, cluster } = sampled;
    const nodes = cluster.target.endpoints.map(({ node }) => node);
    const nowMs = (): number => system.monotonicMs();
    const all = await engineSample(client, {
      facts: sampled.nextFacts({ nowMs: nowMs(), listMs: this.#options.listMs }),
      nodes,
      nowMs,
    });
    // Of a client that was replaced meanwhile: it may have spoken to other nodes.
    if (sampled.isFinished || sampled.client !== client) return;
    const seen = this.#hasRoom(sampled, rowsOf(all)) ? all : withoutTables(all);
    const { turns: inTurn = [], lists = [] } = sampled.cluster;
    const turns = new Set([...inTurn, ...lists]);
    const known = keepTurns(seen, sampled.facts, turns);
    const facts = keepFacts(known, sampled.facts, this.#oldestMs(sampled));
    const isChanged = sampled.take(facts, { rows: rowsOf(all), isUnreadable: isUnreadable(all) });
    const isWanted = this.#options.onSample(sampled.key, sampled.facts);
    if (isChanged || isWanted) this.#wake?.(sampled.cluster.ref);
  }

  /** Clusters of one namespace share what is kept of them. One of usual size is always kept. */
  #hasRoom(sampled: SampledEngine, rows: number): boolean {
    if (rows <= usualRows) return true;
    const { namespace } = sampled.cluster.ref;
    const others = [...this.#clusters.values()].filter(
      (each) => each !== sampled && each.cluster.ref.namespace === namespace,
    );
    return others.reduce((sum, each) => sum + each.rows, rows) <= mostRows;
  }

  #plan(sampled: SampledEngine): void {
    if (sampled.finish()) {
      this.#due(sampled);
      return;
    }
    if (this.#wake === undefined || sampled.isFinished) return;
    const { system, openMs, settledMs } = this.#options;
    // A cluster that has just failed to respond is sampled soon.
    const isKnown =
      sampled.facts.health.isKnown && sampled.facts.health.atMs >= system.monotonicMs() - openMs;
    const baseMs = isKnown ? this.#intervalMs(sampled) : openMs;
    // One whose responses are not what the API promises may send them large and often.
    const waitMs = sampled.cost.isUnreadable ? Math.max(baseMs, settledMs) : baseMs;
    const timer = system.setTimer(waitMs * (1 + jitter * system.random()), () => {
      this.#due(sampled);
    });
    sampled.waitFor(timer);
  }

  /** Lists take requests of their own: samples are as much rarer, so that a settled engine gets two a minute in all. */
  #intervalMs({ cluster, cost }: SampledEngine): number {
    const { openMs, settledMs } = this.#options;
    const { isOpen, lists = [] } = cluster;
    const baseMs = isOpen ? openMs : settledMs * (1 + listShare * lists.length);
    return baseMs * Math.max(1, cost.rows / usualRows);
  }

  /** A fact outlives one failed sample, not two: the second one follows after `openMs`. */
  #oldestMs(sampled: SampledEngine): number {
    const { system, openMs } = this.#options;
    return system.monotonicMs() - this.#intervalMs(sampled) - openMs;
  }
}
