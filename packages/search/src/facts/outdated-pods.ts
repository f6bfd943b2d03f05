import type { Seen } from "../seen.ts";
import { poolInputsHash } from "../workload/pool-inputs-hash.ts";

/** Names of the pods that were started with other inputs than those declared now. */
export function outdatedPods({
  cluster,
  pods,
  material,
}: Pick<Seen, "cluster" | "pods" | "material">): readonly string[] {
  return cluster.pools.flatMap((pool) => {
    const wanted = poolInputsHash(cluster, pool, material.podInputs);
    return pods
      .filter(
        ({ pool: name, inputsHash }) =>
          name === pool.name && inputsHash !== undefined && inputsHash !== wanted,
      )
      .map(({ name }) => name);
  });
}
