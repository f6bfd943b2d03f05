import type { PoolSample } from "./pool-sample.ts";

/** What a decision about the size of pools reads besides the engine. It is in memory only: a new operator starts without. */
export interface AutoscalingSeen {
  /** By the name of the pool, the oldest first. */
  readonly samples: ReadonlyMap<string, readonly PoolSample[]>;
  /** Copies of the shards of the index that has most of them; undefined while nobody knows. */
  readonly mostCopies: number | undefined;
  /** The operator has just begun to look: that there are no samples says nothing yet. */
  readonly hasJustBegun: boolean;
  /** Pools whose volumes the API server has refused to grow a short while ago. */
  readonly refusedVolumes: ReadonlySet<string>;
}

/** Nothing is known. */
export const NO_SAMPLES: AutoscalingSeen = {
  samples: new Map(),
  mostCopies: undefined,
  hasJustBegun: false,
  refusedVolumes: new Set(),
};
