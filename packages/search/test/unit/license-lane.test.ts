import { describe, expect, test } from "vitest";

import type { EngineLicense } from "../../src/engine/engine-facts.ts";
import { decideLane } from "../../src/lane.ts";
import type { LicenseAttempt } from "../../src/license/license-attempts.ts";
import { licenseLane } from "../../src/license/license-lane.ts";
import { licenseReport } from "../../src/license/license-report.ts";
import {
  needsLicense,
  type LicenseSeen,
  NO_LICENSE,
  type WantedLicense,
} from "../../src/license/observe-license.ts";
import type { Seen } from "../../src/seen.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aSeen, engineFacts, known } from "../support/a-seen.ts";

const hour = 3_600_000;
const now = new Date(1000 * hour);
const at = (hours: number): number => now.getTime() + hours * hour;
const wanted: WantedLicense = {
  name: "logs",
  uid: "gold-1",
  type: "gold",
  startMs: at(-10),
  expiryMs: at(1000),
  digest: "d1",
  file: { license: {} },
};
const basic: EngineLicense = {
  uid: "b",
  type: "basic",
  status: "active",
  expiryMs: undefined,
  maxNodes: 1000,
};
const gold: EngineLicense = {
  uid: "gold-1",
  type: "gold",
  status: "active",
  expiryMs: at(1000),
  maxNodes: 10,
};
const trial: EngineLicense = { ...gold, uid: "t", type: "trial" };
const platinum: EngineLicense = { ...gold, uid: "platinum-1", type: "platinum" };
const attempt: LicenseAttempt = {
  uid: "gold-1",
  digest: "d1",
  outcome: "failed",
  reason: "LicensePending",
  message: "not answered",
  current: undefined,
  wallMs: at(0) - 30_000,
  monotonicMs: 5,
};

function seenWith(license: Partial<LicenseSeen>, current?: EngineLicense, status: Seen["status"] = {}): Seen {
  return aSeen({
    cluster: anElasticsearch("7.17.28"),
    status: { clusterUuid: "u", ...status },
    license: { ...NO_LICENSE, ...license },
    engine: engineFacts(current === undefined ? {} : { license: known(current) }),
  });
}

const problem = { reason: "SignatureMissing", message: "There is no Secret." };
const rejected = [{ uid: "gold-1", digest: "d1", reason: "RejectedByCluster", message: "invalid" }];

test.for<[string, Seen, string, string, readonly string[]]>([
  ["no one asks for a license", seenWith({}, basic), "nothingAsked", "settled", []],
  ["its signature is missing", seenWith({ problem }, basic), "unreadable", "stalled", []],
  [
    "the label wants another type",
    seenWith({ wanted, desired: "platinum" }, basic),
    "wrongType",
    "stalled",
    [],
  ],
  ["the label wants what no one has", seenWith({ desired: "gold" }, basic), "wrongType", "stalled", []],
  ["[licensing/P1] it runs", seenWith({ wanted }, gold), "alreadyRuns", "settled", []],
  [
    "[licensing/P13] it runs, and 7.17 calls enterprise platinum",
    seenWith({ wanted: { ...wanted, type: "enterprise" } }, { ...platinum, uid: "gold-1" }),
    "alreadyRuns",
    "settled",
    [],
  ],
  [
    "[licensing/P16] it runs, and its signature was rotated",
    seenWith({ wanted: { ...wanted, digest: "d2" } }, gold),
    "alreadyRuns",
    "settled",
    [],
  ],
  [
    "[licensing/X3] it runs and has expired",
    seenWith({ wanted }, { ...gold, status: "expired" }),
    "alreadyRuns",
    "stalled",
    [],
  ],
  [
    "it ran when the engine was last asked",
    seenWith({ wanted }, undefined, { license: { uid: "gold-1", type: "gold", state: "Applied" } }),
    "alreadyRuns",
    "settled",
    [],
  ],
  [
    "the engine refused it",
    seenWith({ wanted }, basic, { license: { rejected } }),
    "rejected",
    "stalled",
    [],
  ],
  [
    "the engine has just refused it",
    seenWith({ wanted, attempt: { ...attempt, outcome: "rejected" } }, basic),
    "rejected",
    "stalled",
    [],
  ],
  [
    "the engine refused another file of that uid",
    seenWith({ wanted: { ...wanted, digest: "d2" } }, basic, { license: { rejected } }),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  [
    "it has ended",
    seenWith({ wanted: { ...wanted, expiryMs: at(-1) } }, basic),
    "outsideItsTime",
    "stalled",
    [],
  ],
  [
    "it has not begun",
    seenWith({ wanted: { ...wanted, startMs: at(1) } }, basic),
    "outsideItsTime",
    "waiting",
    [],
  ],
  ["no one knows what runs", seenWith({ wanted }), "unknownLicense", "waiting", []],
  [
    "[licensing/P10] a trial ran, no one answers now, and basic is asked for on loss",
    seenWith({ revertsToBasic: true, allowsDowngrade: true }, undefined, {
      license: { uid: "t", type: "trial", state: "Applied" },
    }),
    "nothingAsked",
    "settled",
    [],
  ],
  ["[licensing/T3] a trial that no one asked for runs", seenWith({}, trial), "nothingAsked", "settled", []],
  [
    "[licensing/T3] the same where basic is asked for on loss",
    seenWith({ revertsToBasic: true, allowsDowngrade: true }, trial),
    "nothingAsked",
    "settled",
    [],
  ],
  [
    "[licensing/T4] a trial runs, and a license comes",
    seenWith({ wanted }, trial),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  [
    "[licensing/T5] a trial of its own runs, and a signed one comes",
    seenWith({ wanted: { ...wanted, uid: "trial-1", type: "trial" } }, trial),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  ["a better one runs", seenWith({ wanted }, platinum), "downgrade", "stalled", []],
  [
    "[licensing/A4] a better one runs, and the author allows it",
    seenWith({ wanted, allowsDowngrade: true }, platinum),
    "applyFile",
    "waiting",
    ["putLicense asks first"],
  ],
  [
    "a better one runs, and ends tomorrow",
    seenWith({ wanted }, { ...platinum, expiryMs: at(23) }),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  [
    "a better one has ended",
    seenWith({ wanted }, { ...platinum, status: "expired" }),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  ["it failed half a minute ago", seenWith({ wanted, attempt }, basic), "failedLately", "waiting", []],
  [
    "it failed a minute ago",
    seenWith({ wanted, attempt: { ...attempt, wallMs: at(0) - 60_000 } }, basic),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  [
    "the clock was set back since it failed",
    seenWith({ wanted, attempt: { ...attempt, wallMs: at(5) } }, basic),
    "applyFile",
    "waiting",
    ["putLicense"],
  ],
  ["nothing stands in its way", seenWith({ wanted }, basic), "applyFile", "waiting", ["putLicense"]],
  [
    "[licensing/T1] a trial is asked for",
    seenWith({ desired: "trial" }, basic),
    "start",
    "waiting",
    ["startLicense trial"],
  ],
  [
    "[licensing/T2] a trial was used up",
    seenWith({ desired: "trial" }, basic, {
      license: { rejected: [{ uid: "trial", digest: "start trial" }] },
    }),
    "rejected",
    "stalled",
    [],
  ],
  ["basic is asked for, and runs", seenWith({ desired: "basic" }, basic), "alreadyRuns", "settled", []],
  ["basic is asked for over gold", seenWith({ desired: "basic" }, gold), "downgrade", "stalled", []],
  [
    "[licensing/B2] basic is asked for over gold and allowed",
    seenWith({ desired: "basic", allowsDowngrade: true }, gold),
    "start",
    "waiting",
    ["startLicense basic"],
  ],
  [
    "one that another client uploaded by hand runs",
    seenWith({ revertsToBasic: true }, gold),
    "nothingAsked",
    "settled",
    [],
  ],
])("%s", ([, seen, rule, outcome, actions]) => {
  const decision = decideLane(licenseLane, seen, now);
  const output = decision.actions.map((action) => {
    if (action.kind === "putLicense") return action.warnsFirst ? "putLicense asks first" : "putLicense";
    return action.kind === "startLicense" ? `startLicense ${action.type}` : action.kind;
  });
  expect([decision.rule, decision.outcome.kind, output]).toEqual([rule, outcome, actions]);
});

test.for<[string, string, string]>([
  ["[licensing/P9] an empty 404", "notFound", "NotReady"],
  ["[licensing/P11] 401 or 403", "forbidden", "AuthFailed"],
  ["no response in time", "timeout", "Unreachable"],
  ["not asked yet", "not asked", "LicensePending"],
])("%s: nothing is written", ([, why, reason]) => {
  const engine = engineFacts({ license: { isKnown: false, why } });
  const decision = decideLane(licenseLane, { ...seenWith({ wanted }), engine }, now);
  expect(decision).toMatchObject({ rule: "unknownLicense", actions: [], outcome: { why: { reason } } });
});

test("[security/68] an account that is refused is tried once a minute, whatever happens meanwhile", () => {
  const tries: number[] = [];
  for (let second = 0; second < 180; second += 1) {
    const last = tries.at(-1);
    const failed = { ...attempt, reason: "InsufficientPrivileges", wallMs: at(0) + 1000 * (last ?? 0) };
    const seen = seenWith(last === undefined ? { wanted } : { wanted, attempt: failed }, basic);
    const { actions } = decideLane(licenseLane, seen, new Date(at(0) + 1000 * second));
    if (actions.length > 0) tries.push(second);
  }
  expect(tries).toEqual([0, 60, 120]);
});

describe("what an attempt found out", () => {
  test("counts until the engine is queried again", () => {
    const applied: LicenseAttempt = { ...attempt, outcome: "applied", current: gold };
    const seen = seenWith({ wanted, attempt: applied }, basic);
    expect(decideLane(licenseLane, seen, now).rule).toBe("alreadyRuns");
    const later = { ...seen, engine: engineFacts({ license: { isKnown: true, value: basic, atMs: 6 } }) };
    expect(decideLane(licenseLane, later, now).rule).toBe("applyFile");
  });
});

test.for<[string, Seen, object]>([
  ["runs", seenWith({ wanted }, gold), { uid: "gold-1", type: "gold", state: "Applied" }],
  [
    "expired",
    seenWith({ wanted }, { ...gold, status: "expired" }),
    { state: "Expired", reason: "LicenseExpired" },
  ],
  ["pending", seenWith({ wanted }, basic), { uid: "b", type: "basic", state: "Pending" }],
  ["unknown", seenWith({}), { state: "Unknown" }],
  [
    "rejected",
    seenWith({ wanted, attempt: { ...attempt, outcome: "rejected", message: "invalid" } }, basic),
    { uid: "b", state: "Rejected", rejected: [{ uid: "gold-1", digest: "d1", message: "invalid" }] },
  ],
])("the status says: %s", ([, seen, expected]) => {
  expect(licenseReport(seen, decideLane(licenseLane, seen, now), now)).toMatchObject(expected);
});

test.for<[string, Partial<LicenseSeen>, Seen["status"], boolean]>([
  ["never told", {}, {}, true],
  ["told, and nothing is asked for", {}, { license: { uid: "b", type: "basic" } }, false],
  ["another one is wanted", { wanted }, { license: { uid: "b", type: "basic" } }, true],
  ["the wanted one runs", { wanted }, { license: { uid: "gold-1", type: "gold" } }, false],
  ["the wanted one was refused", { wanted }, { license: { uid: "b", type: "basic", rejected } }, false],
  ["a trial is wanted", { desired: "trial" }, { license: { uid: "b", type: "basic" } }, true],
  [
    "it has run out",
    { wanted },
    { license: { uid: "gold-1", type: "gold", expiryTime: new Date(at(-1)).toISOString() } },
    true,
  ],
])("the engine is queried for its license: %s", ([, license, status, isRequested]) => {
  const question = { status, nowMs: now.getTime() };
  expect(needsLicense(anElasticsearch("7.17.28"), { ...NO_LICENSE, ...license }, question)).toBe(isRequested);
});
