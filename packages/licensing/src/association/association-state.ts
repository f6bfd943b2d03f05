import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense, LicenseAssociation } from "@quartermaster/api/licensing";
import {
  clusterLicenseCandidate,
  type LicenseCandidate,
  licensedCluster,
  type LicenseParameters,
  type LicenseVerdict,
  rankCandidates,
  selectLicense,
} from "@quartermaster/license-selection";
import type { Live, ReconcileEvent } from "@quartermaster/runtime";

import { clusterNeed } from "../pool/capacity.ts";
import { licensingReasons as reasons } from "../reasons.ts";

export interface AssociationSeen {
  readonly association: Live<LicenseAssociation>;
  readonly cluster: Live<ElasticsearchCluster> | undefined;
  readonly license: Live<ClusterLicense> | undefined;
  /** Licenses of the cluster's other associations, and its direct link. */
  readonly rivals: readonly Live<ClusterLicense>[];
  /** Names of licenses that pinned associations of the cluster name. */
  readonly pinned: ReadonlySet<string>;
}

/** How an association stands. */
export interface AssociationState {
  readonly state: NonNullable<NonNullable<LicenseAssociation["status"]>["state"]>;
  readonly reason: string;
  readonly message: string;
}

/** Derives the state of an association from what the search domain reports of the cluster. Pure. */
export function associationState(
  seen: AssociationSeen,
  nowMs: number,
  parameters: LicenseParameters,
): AssociationState {
  const { association, cluster, license } = seen;
  const { clusterRef, licenseRef } = association.spec;
  if (cluster === undefined)
    return {
      state: "Released",
      reason: reasons.clusterNotFound,
      message: `ElasticsearchCluster ${clusterRef.name} does not exist in this namespace.`,
    };
  if (license === undefined)
    return {
      state: "Rejected",
      reason: reasons.licenseNotFound,
      message: `ClusterLicense ${licenseRef.name} does not exist in this namespace.`,
    };
  if (licenseRef.uid !== undefined && licenseRef.uid !== license.spec.uid)
    return {
      state: "Pending",
      reason: reasons.uidMismatch,
      message: `ClusterLicense ${licenseRef.name} does not have the uid ${licenseRef.uid}.`,
    };
  return reportedState(cluster, license) ?? chosenState({ ...seen, cluster, license }, nowMs, parameters);
}

/** The engine's report about this license. */
function reportedState(
  cluster: Live<ElasticsearchCluster>,
  { spec: { uid, maxNodes = Number.POSITIVE_INFINITY } }: Live<ClusterLicense>,
): AssociationState | undefined {
  const { license } = cluster.status ?? {};
  const rejected = license?.rejected?.find((each) => each.uid === uid);
  if (rejected !== undefined) return refusedState(rejected);
  if (license?.uid !== uid) return undefined;
  if (license.state === "Expired")
    return { state: "Rejected", reason: reasons.expired, message: `License ${uid} expired.` };
  const { nodes } = clusterNeed(cluster);
  return nodes > maxNodes
    ? {
        state: "Applied",
        reason: reasons.maxNodesExceeded,
        message: `The engine runs under license ${uid}, which covers ${String(maxNodes)} nodes; the cluster has ${String(nodes)}.`,
      }
    : { state: "Applied", reason: reasons.licenseApplied, message: `The engine runs under license ${uid}.` };
}

function refusedState({ uid, reason = "no reason given", message = "" }: Refusal): AssociationState {
  return {
    state: "Rejected",
    reason: reasons.rejectedByCluster,
    message: `The engine refused license ${uid}: ${reason}. ${message}`.trim(),
  };
}

interface Refusal {
  readonly uid: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

interface Contest extends AssociationSeen {
  readonly cluster: Live<ElasticsearchCluster>;
  readonly license: Live<ClusterLicense>;
}

/** The same choice that the search domain makes among the licenses of the namespace. */
function chosenState(
  { cluster, license, rivals, pinned }: Contest,
  nowMs: number,
  parameters: LicenseParameters,
): AssociationState {
  const own = clusterLicenseCandidate(license, pinned);
  const others = rivals
    .map((each) => clusterLicenseCandidate(each, pinned))
    .filter(({ source }) => source !== own.source);
  const candidates = rankCandidates([own, ...others]);
  const selection = selectLicense({ nowMs, cluster: licensedCluster(cluster), candidates, parameters });
  const verdict = selection.verdicts[candidates.indexOf(own)] ?? "TieBreak";
  const winner = selection.choice.kind === "use" ? selection.choice.candidate : undefined;
  if (winner === own)
    return {
      state: "Pending",
      reason: reasons.notYetApplied,
      message: `The engine does not run under license ${own.uid} yet.`,
    };
  if (problems.has(verdict)) return rejectedState(own, verdict);
  return supersededState(own, verdict, winner?.uid ?? cluster.status?.license?.uid);
}

/** Verdicts that are about the license itself, or about the cluster's engine. */
const problems: ReadonlySet<LicenseVerdict> = new Set<LicenseVerdict>([
  "Malformed",
  "Expired",
  "NotYetValid",
  "TypeMismatch",
  "VersionUnsupported",
  "TLSRequired",
  "FIPSRequired",
]);

function rejectedState({ uid }: LicenseCandidate, verdict: LicenseVerdict): AssociationState {
  const isEarly = verdict === "NotYetValid";
  return {
    state: isEarly ? "Pending" : "Rejected",
    reason: verdict,
    message: `License ${uid} is not used: ${verdict}.`,
  };
}

function supersededState(
  own: LicenseCandidate,
  verdict: LicenseVerdict,
  winner: string | undefined,
): AssociationState {
  if (winner === undefined)
    return { state: "Pending", reason: reasons.notYetApplied, message: `License ${own.uid} is not applied.` };
  const isGuarded = verdict === "DowngradeBlocked";
  return {
    state: "Superseded",
    reason: isGuarded ? reasons.downgradeBlocked : reasons.superseded,
    message: isGuarded
      ? `The cluster keeps license ${winner}: a lower type than its own needs the annotation license.k8s.elastic.co/allow-downgrade.`
      : `The cluster runs under license ${winner} (${verdict}).`,
  };
}

/** Events since the status was written: the status remembers them, so that a restart repeats nothing. */
export function associationEvents(
  before: LicenseAssociation["status"],
  now: AssociationState,
  uid: string | undefined,
): readonly ReconcileEvent[] {
  const { state, reason, message: note } = now;
  const isSame = before?.state === state && before.reason === reason;
  if (state === "Applied" && !(before?.state === "Applied" && before.appliedUid === uid))
    return [appliedEvent(before, uid), ...warningsOf(now)];
  if (isSame) return [];
  if (state === "Superseded")
    return [{ type: "Warning", reason: reasons.licenseConflict, action: "ChooseLicense", note }];
  return warningsOf(now);
}

/** Warnings for the administrator. */
function warningsOf({ state, reason, message: note }: AssociationState): readonly ReconcileEvent[] {
  if (state === "Rejected") return [{ type: "Warning", reason, action: "ApplyLicense", note }];
  return reason === reasons.maxNodesExceeded ? [{ type: "Warning", reason, action: "CountNodes", note }] : [];
}

function appliedEvent(before: LicenseAssociation["status"], uid = ""): ReconcileEvent {
  const isSwitch = before?.appliedUid !== undefined && before.appliedUid !== uid;
  return {
    type: "Normal",
    reason: isSwitch ? reasons.licenseSwitched : reasons.licenseApplied,
    action: "ApplyLicense",
    note: `The engine runs under license ${uid}.`,
  };
}
