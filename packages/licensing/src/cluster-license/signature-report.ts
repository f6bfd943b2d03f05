import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { ConditionUpdate, Live, ReconcileEvent } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";

/** Facts about the signature of a ClusterLicense. Its Secret is for the search domain to read, and for no one here. */
export interface SignatureSeen {
  readonly license: Live<ClusterLicense>;
  /** Clusters that are to run under the license, as the search domain chooses. */
  readonly users: readonly Live<ElasticsearchCluster>[];
  /** The license is our copy of one in the pool. */
  readonly isPoolCopy: boolean;
  /** The operator has the vendor's key: then nothing is copied from the pool that it did not verify. */
  readonly hasVendorKey: boolean;
}

/** Conditions about the signature, and the event that is due. */
export interface SignatureReport {
  readonly conditions: readonly [ConditionUpdate, ConditionUpdate];
  readonly events: readonly ReconcileEvent[];
}

/** Derives both conditions from what the clusters report. Pure. */
export function signatureReport(seen: SignatureSeen): SignatureReport {
  const resolved = resolvedCondition(seen);
  const valid = validCondition(seen, resolved);
  const { conditions: before = [] } = seen.license.status ?? {};
  const known = before.find(({ type }) => type === valid.type);
  const isNews = valid.status === "False" && known?.status !== "False";
  const event = {
    type: "Warning",
    reason: reasons.signatureInvalid,
    action: "VerifySignature",
    note: valid.message,
  } as const;
  return { conditions: [resolved, valid], events: isNews ? [event] : [] };
}

/** Whether the Secret is there and holds what can be a signature. */
function resolvedCondition(seen: SignatureSeen): ConditionUpdate {
  const type = "SignatureResolved";
  const { users, isPoolCopy } = seen;
  for (const { status } of users) {
    const { reason = "", message = "" } = status?.license ?? {};
    if (reason.startsWith("Signature")) return { type, status: "False", reason, message };
  }
  if (isPoolCopy || acceptedBy(seen) !== undefined || refusalOf(seen) !== undefined)
    return { type, status: "True", reason: reasons.valid, message: "The Secret holds a signature." };
  return {
    type,
    status: "Unknown",
    reason: reasons.notYetRead,
    message:
      "No cluster has read the signature: it is read for the cluster that is to run under the license.",
  };
}

/** Whether it is the vendor's: by the key, or by the word of an engine. */
function validCondition(seen: SignatureSeen, resolved: ConditionUpdate): ConditionUpdate {
  const type = "SignatureValid";
  if (resolved.status === "False") return { ...resolved, type };
  const accepted = acceptedBy(seen);
  if (accepted !== undefined)
    return {
      type,
      status: "True",
      reason: reasons.valid,
      message: `The engine of cluster ${accepted} verified it.`,
    };
  const refused = refusalOf(seen);
  if (refused !== undefined)
    return {
      type,
      status: "False",
      reason: reasons.signatureInvalid,
      message: `The engine of cluster ${refused} calls the license invalid.`,
    };
  if (seen.isPoolCopy && seen.hasVendorKey)
    return { type, status: "True", reason: reasons.valid, message: "It was verified with the vendor's key." };
  return {
    type,
    status: "Unknown",
    reason: reasons.noKeyConfigured,
    message: "It is not verified yet: the engine verifies it when the license is applied.",
  };
}

/** A cluster whose engine runs under the license: it verified the signature, no matter who uploaded it. */
function acceptedBy({ license: { spec }, users }: SignatureSeen): string | undefined {
  return users.find(({ status }) => status?.license?.uid === spec.uid)?.metadata.name;
}

/** A cluster whose engine refused the license for itself, and not because of the cluster. */
function refusalOf({ license: { spec }, users }: SignatureSeen): string | undefined {
  return users.find(({ status }) =>
    status?.license?.rejected?.some(
      ({ uid, reason }) => uid === spec.uid && reason === reasons.rejectedByCluster,
    ),
  )?.metadata.name;
}
