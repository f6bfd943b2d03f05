import {
  type LicenseCandidate,
  rankCandidates,
  type RankedCandidates,
} from "@quartermaster/license-selection";
import { meetsAll } from "@quartermaster/runtime";

import { type ClusterNeed, clusterNeed, hasRoom, type RunState } from "../pool/capacity.ts";
import type { PoolLicense } from "../pool/license-pool.ts";
import type { BindingSeen, BindingTarget } from "./decide-binding.ts";

export interface LicenseOffer {
  readonly candidates: RankedCandidates;
  readonly targetOf: (candidate: LicenseCandidate) => BindingTarget | undefined;
}

/** Offer of the pool for a cluster: the pool as it was ranked, where nothing speaks against any of its licenses. */
export function poolOffer(seen: BindingSeen, state: RunState): LicenseOffer {
  const { candidates, origins, licenses } = seen.pool;
  const limited = new Map<LicenseCandidate, LicenseCandidate>();
  const need = clusterNeed(seen.cluster);
  for (const pool of licenses)
    for (const [candidate, limits] of limitsIn(pool, { ...seen, state, need }))
      limited.set(candidate, { ...candidate, ...limits });
  const originals = new Map([...limited].map(([original, copy]) => [copy, original]));
  return {
    candidates:
      limited.size === 0 ? candidates : rankCandidates(candidates.map((each) => limited.get(each) ?? each)),
    targetOf: (candidate) => {
      const origin = origins.get(originals.get(candidate) ?? candidate);
      return origin === undefined ? undefined : { kind: "pool", ...origin };
    },
  };
}

type Limits = Pick<LicenseCandidate, "scopeProblem" | "hasCapacity">;

/** Licenses of an EnterpriseLicense that are not for this cluster, and why. */
function limitsIn(
  pool: PoolLicense,
  {
    namespaceLabels,
    needOfOthers,
    state,
    need,
  }: BindingSeen & { readonly state: RunState; readonly need: ClusterNeed },
): readonly (readonly [LicenseCandidate, Limits])[] {
  if (!isAllowed(pool, namespaceLabels))
    return pool.nested.map(({ candidate }) => [candidate, { scopeProblem: "NamespaceNotAllowed" }]);
  // Its signature would be readable in the namespace, and its place taken, for a cluster that may never run (security/114).
  if (state !== "running")
    return pool.nested.map(({ candidate }) => [candidate, { scopeProblem: "ClusterNotRunning" }]);
  const { license } = pool;
  if (license.spec.capacityPolicy?.mode !== "Enforce") return [];
  const others = needOfOthers(license);
  return pool.nested
    .filter(({ spec: { maxNodes } }) => !hasRoom(license, others, { need, maxNodes }))
    .map(({ candidate }) => [candidate, { hasCapacity: false }]);
}

/** Whether clusters of a namespace may get licenses of an EnterpriseLicense. An unknown namespace may not, unless all may. */
function isAllowed({ license }: PoolLicense, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { allowedNamespaces } = license.spec;
  if (allowedNamespaces === undefined) return true;
  if (labels === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = allowedNamespaces;
  return meetsAll(
    (key) => (Object.hasOwn(labels, key) ? labels[key] : undefined),
    [
      ...Object.entries(matchLabels).map(([key, value]) => ({
        key,
        operator: "In" as const,
        values: [value],
      })),
      ...matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
    ],
  );
}
