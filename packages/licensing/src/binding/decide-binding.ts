import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense, EnterpriseLicense, LicenseAssociation } from "@quartermaster/api/licensing";
import {
  clusterLicenseCandidate,
  type LicenseCandidate,
  licensedCluster,
  type LicensedCluster,
  type LicenseParameters,
  type LicenseSelection,
  rankCandidates,
  type RankedCandidates,
  selectLicense,
} from "@quartermaster/license-selection";
import type { Live } from "@quartermaster/runtime";

import { type OtherNeeds, runState, silentSinceMs } from "../pool/capacity.ts";
import type { NestedLicense, PoolLicense, RankedPool } from "../pool/license-pool.ts";
import { type LicenseOffer, poolOffer } from "./pool-offer.ts";

/** Everything that the choice for one cluster depends on. */
export interface BindingSeen {
  readonly cluster: Live<ElasticsearchCluster>;
  readonly pool: RankedPool;
  /** Need of other clusters for a license of the pool; called only for those that enforce their limits. */
  readonly needOfOthers: (license: Live<EnterpriseLicense>) => OtherNeeds;
  /** Undefined while the namespace is not known. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined;
  /** Licenses of the namespace that the cluster may get. */
  readonly licenses: readonly Live<ClusterLicense>[];
  /** Associations that users made for the cluster. */
  readonly settings: readonly Live<LicenseAssociation>[];
  /** The EnterpriseLicense that its license was copied from no longer exists, or no longer holds it. */
  readonly isSourceDeleted: boolean;
  /** The cluster has a place in the pool. */
  readonly hasSlot: boolean;
}

/** The license for the cluster. */
export type BindingTarget =
  | { readonly kind: "pool"; readonly pool: PoolLicense; readonly nested: NestedLicense }
  | { readonly kind: "license"; readonly license: Live<ClusterLicense> }
  /** The present copy stays. */
  | { readonly kind: "keep" }
  /** The cluster runs under basic, or is to, or has stopped: nothing is held for it. */
  | { readonly kind: "release" };

/** The choice, and what follows from it. */
export interface Binding {
  readonly target: BindingTarget;
  readonly selection: LicenseSelection;
  readonly candidates: RankedCandidates;
}

/** Chooses for one cluster. Pure: the controller, the report on its association and `qm license explain` all use it. */
export function decideBinding(seen: BindingSeen, nowMs: number, parameters: LicenseParameters): Binding {
  const state = runState(seen.cluster, nowMs, parameters);
  const offer = withLicenses(poolOffer(seen, state), seen);
  const { candidates } = offer;
  const cluster = licensedCluster(seen.cluster);
  const selection = selectLicense({ nowMs, cluster, candidates, parameters });
  const { choice } = selection;
  const chosen = choice.kind === "use" ? offer.targetOf(choice.candidate) : undefined;
  const isReleased = isLetGo(selection, cluster, seen) || (state === "stopped" && seen.hasSlot);
  return {
    selection: { ...selection, ...wakeAt(selection, seen, { nowMs, parameters }) },
    candidates,
    target: chosen ?? { kind: isReleased ? "release" : "keep" },
  };
}

/** Also when the place of a silent cluster becomes free. */
function wakeAt(
  { wakeAtMs = Number.POSITIVE_INFINITY }: LicenseSelection,
  { cluster, hasSlot }: BindingSeen,
  { nowMs, parameters }: { readonly nowMs: number; readonly parameters: LicenseParameters },
): Pick<LicenseSelection, "wakeAtMs"> {
  const freeAtMs = silentSinceMs(cluster) + parameters.reservationGraceMs;
  const next = hasSlot && freeAtMs > nowMs ? Math.min(wakeAtMs, freeAtMs) : wakeAtMs;
  return next === Number.POSITIVE_INFINITY ? {} : { wakeAtMs: next };
}

/** Adds the licenses of the cluster's namespace. */
function withLicenses(offer: LicenseOffer, { licenses, settings }: BindingSeen): LicenseOffer {
  if (licenses.length === 0) return offer;
  const pinned = new Set(settings.flatMap(({ spec }) => (spec.pinned ? [spec.licenseRef.name] : [])));
  const own = new Map<LicenseCandidate, BindingTarget>(
    licenses.map((license) => [clusterLicenseCandidate(license, pinned), { kind: "license", license }]),
  );
  return {
    candidates: rankCandidates([...offer.candidates, ...own.keys()]),
    targetOf: (candidate) => own.get(candidate) ?? offer.targetOf(candidate),
  };
}

/**
 * Whether nothing is held for the cluster any more: it runs under basic as declared, or the EnterpriseLicense behind its license is
 * deleted and its author wants basic then. The search domain waits 15 minutes before it acts on that, and does nothing if it comes back.
 */
function isLetGo(
  { choice, reason }: LicenseSelection,
  { onLoss, allowsDowngrade, desired, current }: LicensedCluster,
  { isSourceDeleted }: BindingSeen,
): boolean {
  if (choice.kind !== "keep") return false;
  if (reason === "AsDesired") return true;
  if (onLoss !== "RevertToBasic") return false;
  return current?.type === "basic" || (isSourceDeleted && allowsDowngrade && desired === undefined);
}
