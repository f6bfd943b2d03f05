import { fieldOf } from "@quartermaster/runtime";

import { quantityUnits } from "../model/quantity-units.ts";
import type { SearchCluster } from "../model/search-cluster.ts";

/** Memory limits of all declared nodes together; undefined as soon as one pool has none, because a part says nothing of the whole. */
export function memoryBytes({ pools }: Pick<SearchCluster, "pools">): number | undefined {
  const perPool = pools.map(({ replicas, resources }) => {
    const limit = bytesOf(fieldOf(fieldOf(resources, "limits"), "memory"));
    return limit === undefined ? undefined : limit * replicas;
  });
  const known = perPool.filter((bytes) => bytes !== undefined);
  if (known.length < perPool.length) return undefined;
  const sum = Math.ceil(known.reduce((all, bytes) => all + bytes, 0));
  return Number.isSafeInteger(sum) ? sum : undefined;
}

/** A quantity such as `2Gi`, `1500M` or `1e9`. */
function bytesOf(quantity: unknown): number | undefined {
  const [, amount, unit = ""] =
    /^(\d+(?:\.\d*)?(?:[eE]\d+)?)([kMGTPE]i?|Ki|m)?$/.exec(String(quantity)) ?? [];
  const factor = quantityUnits[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}
