import {
  type LicenseCandidate,
  rankCandidates,
  type RankedCandidates,
} from "@quartermaster/license-selection";

import type { NestedLicense, PoolLicense } from "./license-pool.ts";

/** The pool in the order in which its licences are preferred. Ranked when it changes, asked for every cluster. */
export interface RankedPool {
  readonly licenses: readonly PoolLicense[];
  /** All nested licences, best first. */
  readonly candidates: RankedCandidates;
  readonly origins: ReadonlyMap<LicenseCandidate, PoolOrigin>;
}

/** Where a candidate of the pool comes from. */
interface PoolOrigin {
  readonly pool: PoolLicense;
  readonly nested: NestedLicense;
}

/** Ranks the nested licences of a pool. */
export function rankPool(licenses: readonly PoolLicense[]): RankedPool {
  const origins = new Map(
    licenses.flatMap((pool) =>
      pool.nested.map((nested): [LicenseCandidate, PoolOrigin] => [nested.candidate, { pool, nested }]),
    ),
  );
  return { licenses, origins, candidates: rankCandidates(origins.keys()) };
}
