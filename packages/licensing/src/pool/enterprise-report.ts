import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import { effectiveExpiryMs, type LicenseParameters } from "@quartermaster/license-selection";
import type { ConditionUpdate, ReconcileEvent, StatusOf } from "@quartermaster/runtime";

import {
  expiryReport,
  licenseState,
  type LicenseTimes,
  timeText,
  validCondition,
} from "../expiry/license-state.ts";
import type { Allocation } from "../licensing-stores.ts";
import { licensingReasons as reasons } from "../reasons.ts";
import { type Capacity, capacityOf, sumNeeds } from "./capacity.ts";
import type { PoolLicense } from "./license-pool.ts";

/** Everything that is reported about an EnterpriseLicense. */
export interface EnterpriseReport {
  readonly status: StatusOf<EnterpriseLicense>;
  readonly conditions: readonly ConditionUpdate[];
  readonly events: readonly ReconcileEvent[];
  readonly nextMs: number | undefined;
}

/** Where and when a report is made. */
export interface ReportOptions {
  readonly nowMs: number;
  readonly parameters: LicenseParameters;
  readonly before: EnterpriseLicense["status"];
}

/** Builds the whole status. Pure. */
export function enterpriseReport(
  read: PoolLicense,
  allocations: readonly Allocation[],
  { nowMs, parameters, before }: ReportOptions,
): EnterpriseReport {
  const times = licenseState(read, nowMs, parameters);
  const expiry = expiryReport(times, read.expiryMs, before?.conditions);
  const capacity = capacityOf(read.license, sumNeeds(allocations.map(({ need }) => need)));
  const capacityUpdate = capacityCondition(read, capacity);
  return {
    nextMs: times.nextMs,
    events: [...expiry.events, ...capacityEvents(capacityUpdate, before), ...signatureEvents(read, before)],
    conditions: [
      signatureCondition(read),
      validCondition(read.problem?.reason ?? times.state, read.problem?.message ?? ""),
      expiry.condition,
      capacityUpdate,
      namespaceCondition(read),
    ],
    status: statusOf(read, allocations, { times, capacity, nowMs, parameters, before }),
  };
}

interface StatusOptions extends ReportOptions {
  readonly times: LicenseTimes;
  readonly capacity: Capacity;
}

function statusOf(
  read: PoolLicense,
  allocations: readonly Allocation[],
  { times, capacity, nowMs, parameters, before }: StatusOptions,
): StatusOf<EnterpriseLicense> {
  const isCounting = read.license.spec.maxInstances !== undefined;
  return {
    state: read.problem === undefined ? times.state : "Invalid",
    startTime: timeText(read.startMs),
    expiryTime: timeText(read.expiryMs),
    nextTransitionTime: times.nextMs === undefined ? undefined : timeText(times.nextMs),
    used: capacity.used,
    limit: capacity.limit,
    usedFraction: capacity.fraction,
    peakUsed: Math.max(before?.peakUsed ?? 0, capacity.used),
    allocations: allocations.slice(0, 500).map(({ association: { spec }, cluster: { metadata }, need }) => ({
      namespace: metadata.namespace ?? "",
      cluster: metadata.name,
      uid: spec.licenseRef.uid,
      amount: isCounting ? need.nodes : need.bytes,
      since: spec.source?.since,
    })),
    nested: read.nested.slice(0, 200).map(({ candidate }) => {
      const expiryMs = effectiveExpiryMs(candidate);
      const { state } = licenseState({ startMs: candidate.startMs, expiryMs }, nowMs, parameters);
      return {
        uid: candidate.uid,
        type: candidate.type,
        state: candidate.problem === undefined ? state : ("Invalid" as const),
        expiryTime: timeText(expiryMs),
        reason: candidate.problem,
      };
    }),
  };
}

function capacityCondition(
  { license: { spec } }: PoolLicense,
  { used, limit, allowed }: Capacity,
): ConditionUpdate {
  const type = "CapacityOK";
  const amount = `${String(used)} of ${String(limit)} ${spec.maxInstances === undefined ? "resource units" : "instances"} are used.`;
  const isFinished = used > allowed && spec.capacityPolicy?.mode !== "Report";
  return isFinished
    ? { type, status: "False", reason: reasons.capacityExceeded, message: amount }
    : { type, status: "True", reason: reasons.withinCapacity, message: amount };
}

/** Once, when it begins. */
function capacityEvents(
  { type, status, message }: ConditionUpdate,
  before: EnterpriseLicense["status"],
): readonly ReconcileEvent[] {
  const known = before?.conditions?.find((each) => each.type === type);
  return status !== "False" || known?.status === "False"
    ? []
    : [{ type: "Warning", reason: reasons.capacityExceeded, action: "CountUse", note: message }];
}

function signatureCondition({ problem, isSignatureValid }: PoolLicense): ConditionUpdate {
  const type = "SignatureValid";
  const isAbout = problem?.reason.startsWith("Signature") ?? false;
  if (isAbout && problem !== undefined) return { type, status: "False", ...problem };
  if (isSignatureValid === true)
    return { type, status: "True", reason: reasons.valid, message: "The vendor signed the license." };
  return {
    type,
    status: "Unknown",
    reason: reasons.noKeyConfigured,
    message: "The operator has no key of the vendor; engines verify what they are given.",
  };
}

function signatureEvents(read: PoolLicense, before: EnterpriseLicense["status"]): readonly ReconcileEvent[] {
  const { status, message } = signatureCondition(read);
  const known = before?.conditions?.find(({ type }) => type === "SignatureValid");
  return status !== "False" || known?.status === "False"
    ? []
    : [{ type: "Warning", reason: reasons.signatureInvalid, action: "VerifySignature", note: message }];
}

function namespaceCondition({ problem }: PoolLicense): ConditionUpdate {
  const type = "NamespaceAccepted";
  return problem?.reason === reasons.wrongNamespace
    ? { type, status: "False", ...problem }
    : { type, status: "True", reason: reasons.valid, message: "The license is in the license namespace." };
}
