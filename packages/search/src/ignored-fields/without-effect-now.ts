import type { NamedField } from "@quartermaster/api";

import { unusedOperatorCertificate } from "../material/operator-certificate.ts";
import type { Seen } from "../seen.ts";
import { acceptedInputs, lateInputs } from "../workload/pool-inputs-hash.ts";

type Known = Pick<Seen, "cluster" | "material" | "status" | "pods" | "statefulSets">;

/** Fields that have an effect in general, and none on this cluster as it runs. */
export function withoutEffectNow(known: Known): readonly NamedField[] {
  return [...unusedOperatorCertificate(known), ...lateFields(known)];
}

/** Pods that were started before the operator knew a field go on without it until they restart. */
function lateFields({ cluster, material, statefulSets }: Known): readonly NamedField[] {
  const paths = cluster.pools.flatMap((pool) => {
    const set = statefulSets.get(pool.name);
    const accepted = acceptedInputs(cluster, pool, { followed: material.podInputs, set });
    return accepted.lateInputs === undefined ? [] : Object.keys(lateInputs(cluster, pool));
  });
  return [...new Set(paths)].map((path) => ({
    path,
    why: "The nodes were started by an operator that did not know the field: restart them with qm search restart.",
  }));
}
