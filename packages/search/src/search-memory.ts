import { defineMemory, type MemorySlot } from "@quartermaster/runtime";

import type { EngineClient } from "./engine/engine-client.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import type { Seen } from "./seen.ts";

/** What a reconcile hands from its look to its writes; worth nothing to the next one. */
export interface SearchMemory {
  cluster: SearchCluster | undefined;
  /** Left out while the cluster is being deleted. */
  seen: Seen | undefined;
  engine: EngineClient | undefined;
  /** When the look was over. */
  seenMs: number;
}

/** The slot of the runtime that holds it. */
export const searchMemory: MemorySlot<SearchMemory> = defineMemory("search", () => ({
  cluster: undefined,
  seen: undefined,
  engine: undefined,
  seenMs: Number.POSITIVE_INFINITY,
}));
