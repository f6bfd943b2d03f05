import { fieldOf } from "@quartermaster/runtime";

import { quantityBytes } from "../model/quantity-units.ts";
import type { SearchCluster } from "../model/search-cluster.ts";

/** Memory limits of all declared nodes together; undefined as soon as one pool has none, because a part says nothing of the whole. */
export function memoryBytes({ pools }: Pick<SearchCluster, "pools">): number | undefined {
  const perPool = pools.map(({ replicas, resources }) => {
    const limit = quantityBytes(fieldOf(fieldOf(resources, "limits"), "memory"));
    return limit === undefined ? undefined : limit * replicas;
  });
  const known = perPool.filter((bytes) => bytes !== undefined);
  if (known.length < perPool.length) return undefined;
  const sum = Math.ceil(known.reduce((all, bytes) => all + bytes, 0));
  return Number.isSafeInteger(sum) ? sum : undefined;
}
