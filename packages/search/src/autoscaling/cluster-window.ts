import type { EngineFacts, EngineIndex } from "../engine/engine-facts.ts";
import { queriesOf, queryKey, type ScalingPace } from "../model/autoscaling-policy.ts";
import { podNames, type SearchCluster } from "../model/search-cluster.ts";
import { type Counters, type PoolSample, poolSample } from "./pool-sample.ts";
import type { AutoscalingSeen } from "./sample-windows.ts";

/** While something is in progress the engine is queried more often than windows need; this bounds what is kept. */
const shortestGapMs = 500;

/** Samples farther apart than this have a hole between them. */
const longestGapMs = 90_000;

/** Windows are an hour at most; one sample from before says how they began. */
const longestWindowMs = 3_600_000 + 2 * longestGapMs;

/** Facts about copies are valid for so long. */
const copiesForMs = 900_000;

/** A StorageClass or a quota may be changed: it is tried again after so long. */
const refusedForMs = 3_600_000;

/** Facts of the engine, and by query those of the cluster's own Prometheus; undefined before it was queried. */
type LoadFacts = Pick<EngineFacts, "nodeLoad" | "indices"> & {
  readonly responses: ReadonlyMap<string, number> | undefined;
};

export class ClusterWindow {
  readonly #samples = new Map<string, readonly PoolSample[]>();
  readonly #beganMs: number;
  /** When the API server refused to grow the volumes of a pool. */
  readonly #refusals = new Map<string, number>();
  #counters: Counters = new Map();
  /** When the sampler got the statistics that were taken last. */
  #loadMs: number | undefined;
  #copies: { readonly most: number; readonly atMs: number; readonly factMs: number } | undefined;

  constructor(beganMs: number) {
    this.#beganMs = beganMs;
  }

  seenAt(nowMs: number): AutoscalingSeen {
    const copies = this.#copies;
    const isFresh = copies !== undefined && nowMs - copies.atMs < copiesForMs;
    return {
      samples: new Map(this.#samples),
      mostCopies: isFresh ? copies.most : undefined,
      refusedVolumes: new Set(
        [...this.#refusals].filter(([, atMs]) => nowMs - atMs < refusedForMs).map(([pool]) => pool),
      ),
      hasJustBegun: Math.abs(nowMs - this.#beganMs) <= longestGapMs,
    };
  }

  refuseVolumes(pool: string, atMs: number): void {
    this.#refusals.set(pool, atMs);
  }

  /** Forgets all pools but these. */
  retain(pools: readonly string[]): void {
    for (const name of this.#samples.keys()) if (!pools.includes(name)) this.#samples.delete(name);
  }

  take(cluster: SearchCluster, { nodeLoad, indices, responses }: LoadFacts, atMs: number): void {
    if (indices.isKnown && indices.atMs !== this.#copies?.factMs)
      this.#copies = { most: mostCopies(indices.value), atMs, factMs: indices.atMs };
    if (!nodeLoad.isKnown || nodeLoad.atMs === this.#loadMs) return;
    this.#loadMs = nodeLoad.atMs;
    const before = this.#counters;
    for (const pool of cluster.pools.filter(({ autoscaling }) => autoscaling !== undefined)) {
      const queries = queriesOf([pool]);
      // Not queried yet: that is no silence.
      if (queries.length > 0 && responses === undefined) continue;
      const reported = { atMs, before, responses: responsesTo(queries, responses) };
      const sample = poolSample(podNames(cluster, pool), nodeLoad.value, reported);
      if (sample !== undefined) this.#add(pool.name, sample);
    }
    this.#counters = new Map(
      nodeLoad.value.map(({ node, writeRejections }) => [node, { atMs, writeRejections }]),
    );
  }

  /** A clock that was set back takes what seems to come from the future with it. */
  #add(pool: string, sample: PoolSample): void {
    const { atMs } = sample;
    const before = (this.#samples.get(pool) ?? []).filter(
      (each) => each.atMs > atMs - longestWindowMs && each.atMs < atMs,
    );
    const newest = before.at(-1);
    if (newest !== undefined && atMs - newest.atMs < shortestGapMs) return;
    this.#samples.set(pool, [...before, sample]);
  }
}

function responsesTo(
  queries: readonly string[],
  responses: ReadonlyMap<string, number> = new Map(),
): PoolSample["values"] {
  return Object.fromEntries(
    queries.flatMap((query) => {
      const value = responses.get(query);
      return value === undefined ? [] : [[queryKey(query), value] as const];
    }),
  );
}

/** The engine itself fits the copies of some indices to the nodes: those need one. */
function mostCopies(indices: readonly EngineIndex[]): number {
  return Math.max(1, ...indices.map(({ replicas, isAutoExpanded }) => (isAutoExpanded ? 1 : replicas + 1)));
}

/** Samples that have a say in one direction. */
export interface SampleWindow {
  readonly samples: readonly PoolSample[];
  /** Why they prove nothing yet. */
  readonly hole: "SamplesMissing" | "WindowFilling" | undefined;
}

/** The samples of the last while, and whether they are all there. */
export function windowOf(
  all: readonly PoolSample[],
  { stabilizationMs }: Pick<ScalingPace, "stabilizationMs">,
  nowMs: number,
): SampleWindow {
  const beginMs = nowMs - stabilizationMs;
  // The last one before it began says how it began.
  const first = all.findLastIndex(({ atMs }) => atMs <= beginMs);
  const samples = all.slice(Math.max(0, first));
  const times = [...samples.map(({ atMs }) => Math.max(atMs, beginMs)), nowMs];
  const isTorn = times.some((atMs, at) => atMs - (times[at - 1] ?? atMs) > longestGapMs);
  if (samples.length === 0 || isTorn) return { samples, hole: "SamplesMissing" };
  return { samples, hole: first < 0 ? "WindowFilling" : undefined };
}
