import type { ClusterLicense, LicenseType } from "@quartermaster/api/licensing";

import { licenseTypeRank } from "./license-type.ts";

/** Why a license cannot be used, known without looking at clock or cluster. In the order in which they are reported. */
export type LicenseProblem =
  | "Malformed"
  | "WrongLicenseKind"
  | "SignatureMissing"
  | "SignatureAmbiguous"
  | "SignatureInvalid"
  | "ParentInvalid";

/** A license that a cluster could get. */
export interface LicenseCandidate {
  readonly uid: string;
  /** Kind, namespace and name of the object that holds it; tells two copies of one license apart. */
  readonly source: string;
  readonly type: LicenseType;
  readonly startMs: number;
  readonly expiryMs: number;
  /** The EnterpriseLicense around it. */
  readonly parent?: { readonly startMs: number; readonly expiryMs: number };
  readonly problem?: LicenseProblem | undefined;
  /** The license may not be used where the cluster is. */
  readonly scopeProblem?: "WrongNamespace" | "NamespaceNotAllowed" | "ClusterNotRunning";
  /** Version of the license format, from the signature. */
  readonly formatVersion?: number | undefined;
  /** False if the cluster would exceed what the license covers. Not checked for the license that a cluster runs under. */
  readonly hasCapacity?: boolean;
  readonly isPinned?: boolean;
}

/** When a license ends: with the license around it at the latest. */
export function effectiveExpiryMs({ expiryMs, parent }: LicenseCandidate): number {
  return parent === undefined ? expiryMs : Math.min(expiryMs, parent.expiryMs);
}

/** Candidates in the common order, best first. Sort once, select for many clusters. */
export type RankedCandidates = readonly LicenseCandidate[] & { readonly isRanked: true };

/** Higher type, later expiry, later start, smaller uid, smaller source. */
export function rankCandidates(candidates: Iterable<LicenseCandidate>): RankedCandidates {
  const ranked = [...candidates].toSorted(compareCandidates);
  return Object.assign(ranked, { isRanked: true as const });
}

function compareCandidates(one: LicenseCandidate, other: LicenseCandidate): number {
  return (
    licenseTypeRank(other.type) - licenseTypeRank(one.type) ||
    effectiveExpiryMs(other) - effectiveExpiryMs(one) ||
    other.startMs - one.startMs ||
    compareText(one.uid, other.uid) ||
    compareText(one.source, other.source)
  );
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** A ClusterLicense as far as a choice needs it. */
export interface ChoosableLicense {
  readonly spec: ClusterLicense["spec"];
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

/** A ClusterLicense as a candidate. Its signature is for the search domain to read, once it is chosen. */
export function clusterLicenseCandidate(
  { spec, metadata: { namespace = "", name } }: ChoosableLicense,
  pinned: ReadonlySet<string> = new Set(),
): LicenseCandidate {
  const { uid, type, issueDate, startDate = issueDate, expiryDate } = spec;
  return {
    uid,
    source: `ClusterLicense ${namespace}/${name}`,
    type,
    startMs: startDate,
    expiryMs: expiryDate,
    problem: startDate < expiryDate ? undefined : "Malformed",
    isPinned: pinned.has(name),
  };
}
