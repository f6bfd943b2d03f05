import type { EngineFacts } from "../../src/engine/engine-facts.ts";
import type { LicenseAttempt } from "../../src/license/license-attempts.ts";
import { licenseLane } from "../../src/license/license-lane.ts";
import { NO_LICENSE, type WantedLicense } from "../../src/license/observe-license.ts";
import type { Seen } from "../../src/seen.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aSeen, engineFacts, known } from "./a-seen.ts";
import { formed, hour, minute, nowMs, type WakeUp } from "./wake-up.ts";

const basic = {
  uid: "b",
  type: "basic",
  status: "active",
  expiryMs: undefined,
  maxNodes: undefined,
} as const;
const platinum = {
  uid: "p",
  type: "platinum",
  status: "active",
  expiryMs: nowMs + 40 * hour,
  maxNodes: 3,
} as const;
const wanted: WantedLicense = {
  name: "logs",
  uid: "g",
  type: "gold",
  startMs: nowMs - hour,
  expiryMs: nowMs + 1_000 * hour,
  digest: "d",
  file: {},
};

function licensed(
  license: Partial<Seen["license"]>,
  engine: Partial<EngineFacts> = {},
  status: object = {},
): Seen {
  return aSeen({
    cluster: anElasticsearch("8.19.0"),
    status: { ...formed, ...status },
    license: { ...NO_LICENSE, ...license },
    engine: engineFacts(engine),
  });
}

const rejectedWith = (reason: string): WakeUp => ({
  by: "followed",
  lane: licenseLane,
  comes: licensed(
    { wanted },
    { license: known(basic) },
    { license: { rejected: [{ uid: "g", digest: "d", reason }] } },
  ),
  goes: { license: { ...NO_LICENSE, wanted: { ...wanted, digest: "d2" } } },
});
const failedWith = (reason: string): LicenseAttempt => ({
  uid: "g",
  digest: "d",
  outcome: "failed",
  reason,
  message: "",
  current: undefined,
  wallMs: nowMs,
  monotonicMs: 0,
});

/** Reasons of the license lane. */
export const licenseWakeUps = {
  authFailed: [
    {
      by: "engine",
      lane: licenseLane,
      comes: licensed({ wanted }, { license: { isKnown: false, why: "forbidden" } }),
      goes: { license: known(basic) },
    },
    {
      by: "time",
      lane: licenseLane,
      comes: licensed({ wanted, attempt: failedWith("AuthFailed") }, { license: known(basic) }),
      afterMs: minute,
    },
  ],
  downgradeNotAllowed: [
    // A day before the end of the license that runs a lower one may follow it.
    {
      by: "time",
      lane: licenseLane,
      comes: licensed({ wanted }, { license: known({ ...platinum, expiryMs: nowMs + 30 * hour }) }),
      afterMs: 6 * hour,
    },
    {
      by: "time",
      lane: licenseLane,
      comes: licensed(
        { revertsToBasic: true },
        { license: known({ ...platinum, expiryMs: nowMs + 5 * hour }) },
        { license: { uid: "p", type: "platinum", clusterLicense: "logs" } },
      ),
      afterMs: 5 * hour,
    },
    { by: "edit" },
  ],
  fipsRequired: [rejectedWith("FIPSRequired")],
  insufficientPrivileges: [
    {
      by: "time",
      lane: licenseLane,
      comes: licensed({ wanted, attempt: failedWith("InsufficientPrivileges") }, { license: known(basic) }),
      afterMs: minute,
    },
  ],
  licenseExpired: [
    {
      by: "followed",
      lane: licenseLane,
      comes: licensed({ wanted: { ...wanted, expiryMs: nowMs } }, { license: known(basic) }),
      goes: { license: { ...NO_LICENSE, wanted } },
    },
    {
      by: "engine",
      comes: licensed({}, { license: known(platinum) }),
      goes: { license: known({ ...platinum, status: "expired" }) },
    },
  ],
  licenseLost: [
    {
      by: "time",
      lane: licenseLane,
      comes: licensed(
        { revertsToBasic: true, allowsDowngrade: true },
        { license: known(platinum) },
        {
          license: { uid: "p", type: "platinum", clusterLicense: "logs", lostSince: "2026-11-17T09:50:00Z" },
        },
      ),
      afterMs: 5 * minute,
    },
  ],
  licenseNotYetValid: [
    {
      by: "time",
      lane: licenseLane,
      comes: licensed({ wanted: { ...wanted, startMs: nowMs + hour } }, { license: known(basic) }),
      afterMs: hour,
    },
  ],
  licensePending: [
    {
      by: "engine",
      lane: licenseLane,
      comes: licensed({ wanted }, { license: known(basic) }),
      goes: { license: known({ ...basic, uid: "g", type: "gold" }) },
    },
  ],
  needsAcknowledgement: [rejectedWith("NeedsAcknowledgement")],
  noMatchingLicense: [
    {
      by: "followed",
      lane: licenseLane,
      comes: licensed({ wanted, desired: "platinum" }, { license: known(basic) }),
      goes: { license: { ...NO_LICENSE, desired: "platinum", wanted: { ...wanted, type: "platinum" } } },
    },
    { by: "edit" },
  ],
  notReady: [
    {
      by: "engine",
      lane: licenseLane,
      comes: licensed({ wanted }, { license: { isKnown: false, why: "unavailable" } }),
      goes: { license: known(basic) },
    },
  ],
  rejectedByCluster: [rejectedWith("RejectedByCluster")],
  tlsRequired: [rejectedWith("TLSRequired")],
  uploadTypeNotAllowed: [rejectedWith("UploadTypeNotAllowed")],
  trialNotAvailable: [{ by: "edit" }],
} satisfies Readonly<Record<string, readonly WakeUp[]>>;
