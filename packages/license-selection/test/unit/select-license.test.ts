import { describe, expect, test } from "vitest";

import {
  dayMs,
  type LicenseCandidate,
  type LicensedCluster,
  rankCandidates,
  selectLicense,
} from "../../src/index.ts";
import {
  decided,
  license,
  newCluster,
  nowMs,
  type Outcome,
  parent,
  under,
} from "../support/license-state.ts";

interface Case {
  readonly name: string;
  readonly given: readonly LicenseCandidate[];
  readonly cluster?: LicensedCluster;
  readonly want: Partial<Outcome>;
}

const P = (days: number, more: Partial<LicenseCandidate> = {}): LicenseCandidate =>
  license("platinum", days, more);
const G = (days: number, more: Partial<LicenseCandidate> = {}): LicenseCandidate =>
  license("gold", days, more);
const S = (days: number): LicenseCandidate => license("standard", days);
const T = (days: number): LicenseCandidate => license("trial", days);
const N = (days: number): LicenseCandidate => license("enterprise", days);
const hourMs = dayMs / 24;

const selection: readonly Case[] = [
  {
    name: "nothing at all: nothing is changed",
    given: [],
    want: { choice: "keep", reason: "NoLicenseAvailable" },
  },
  {
    name: "[licensing/S2] platinum before gold before standard",
    given: [S(300), P(300), G(300)],
    want: {
      choice: "platinum-300",
      verdicts: { "platinum-300": "Selected", "gold-300": "LowerType", "standard-300": "LowerType" },
    },
  },
  {
    name: "[licensing/S3] the longest of three platinum",
    given: [P(60), P(90), P(360)],
    want: {
      choice: "platinum-360",
      verdicts: {
        "platinum-360": "Selected",
        "platinum-90": "ShorterValidity",
        "platinum-60": "ShorterValidity",
      },
    },
  },
  {
    name: "[licensing/S5] a short platinum before a long gold",
    given: [G(360), P(40)],
    want: { choice: "platinum-40", verdicts: { "platinum-40": "Selected", "gold-360": "LowerType" } },
  },
  {
    name: "[licensing/S6] the label leaves only gold",
    given: [P(360), G(90), G(60)],
    cluster: { ...newCluster, desired: "gold" },
    want: {
      choice: "gold-90",
      verdicts: { "gold-90": "Selected", "gold-60": "ShorterValidity", "platinum-360": "TypeMismatch" },
    },
  },
  {
    name: "[licensing/S7] no gold for the label: platinum is kept",
    given: [P(360)],
    cluster: under(P(360), { desired: "gold" }),
    want: { choice: "keep", reason: "NoMatchingLicense", verdicts: { "platinum-360": "TypeMismatch" } },
  },
  {
    name: "[licensing/S8] a misspelt label changes nothing",
    given: [P(360)],
    cluster: { ...newCluster, desired: "invalid" },
    want: { choice: "keep", reason: "DesiredLicenseInvalid" },
  },
  {
    name: "[licensing/S9] platinum an hour short of its expiry margin: gold",
    given: [P(0, { expiryMs: nowMs + 30 * dayMs - hourMs }), G(300)],
    want: { choice: "gold-300", verdicts: { "platinum-0": "ExpiryMargin", "gold-300": "Selected" } },
  },
  {
    name: "[licensing/S10] platinum exactly at its expiry margin",
    given: [P(30), G(300)],
    want: { choice: "platinum-30" },
  },
  {
    name: "[licensing/S11] platinum that began 23 h ago: gold, and awake when its margin ends",
    given: [P(300, { startMs: nowMs - 23 * hourMs }), G(300)],
    want: {
      choice: "gold-300",
      verdicts: { "platinum-300": "StartMargin", "gold-300": "Selected" },
      wakeAtMs: nowMs + hourMs,
    },
  },
  {
    name: "[licensing/S12] the only one begins now: taken in the second round",
    given: [P(300, { startMs: nowMs })],
    want: { choice: "platinum-300", verdicts: { "platinum-300": "Selected" } },
  },
  {
    name: "the only one begins in ten days: awake then",
    given: [P(300, { startMs: nowMs + 10 * dayMs })],
    want: {
      choice: "keep",
      reason: "NoLicenseAvailable",
      verdicts: { "platinum-300": "NotYetValid" },
      wakeAtMs: nowMs + 10 * dayMs,
    },
  },
  {
    name: "[licensing/S14] a license that ends now has ended",
    given: [P(0)],
    want: { choice: "keep", verdicts: { "platinum-0": "Expired" } },
  },
  {
    name: "[licensing/S15] the license around it has ended",
    given: [P(300, { parent: { ...parent, expiryMs: nowMs - 1 } })],
    want: { choice: "keep", verdicts: { "platinum-300": "ParentExpired" } },
  },
  {
    name: "[licensing/S16] the license around it ends first and shortens it",
    given: [P(300, { parent: { ...parent, expiryMs: nowMs + 40 * dayMs } }), P(50)],
    want: {
      choice: "platinum-50",
      verdicts: { "platinum-50": "Selected", "platinum-300": "ShorterValidity" },
    },
  },
  {
    name: "[licensing/S18] no enterprise type before 7.8.1",
    given: [N(300), P(360)],
    cluster: { ...newCluster, minVersion: "7.8.0" },
    want: {
      choice: "platinum-360",
      verdicts: { "enterprise-300": "VersionUnsupported", "platinum-360": "Selected" },
    },
  },
  {
    name: "[licensing/S18] enterprise from 7.8.1 on",
    given: [N(300), P(360)],
    cluster: { ...newCluster, minVersion: "7.8.1" },
    want: { choice: "enterprise-300" },
  },
  {
    name: "[licensing/S21] platinum before trial",
    given: [T(20), P(300)],
    want: { choice: "platinum-300", verdicts: { "platinum-300": "Selected", "trial-20": "ExpiryMargin" } },
  },
  {
    name: "[licensing/S21] trial before an ended platinum",
    given: [T(300), P(-1)],
    want: { choice: "trial-300" },
  },
  {
    name: "[licensing/S22] a life of 20 days, half gone, is inside its margins",
    given: [P(10, { startMs: nowMs - 10 * dayMs })],
    want: { choice: "platinum-10", verdicts: { "platinum-10": "Selected" }, wakeAtMs: nowMs + 3 * dayMs },
  },
  { name: "[licensing/S23] standard alone", given: [S(300)], want: { choice: "standard-300" } },
  {
    name: "[licensing/L1] gold needs transport TLS",
    given: [G(300)],
    cluster: { ...newCluster, transportTls: false },
    want: { choice: "keep", verdicts: { "gold-300": "TLSRequired" } },
  },
  {
    name: "[licensing/L3] a trial needs no TLS",
    given: [T(300)],
    cluster: { ...newCluster, transportTls: false },
    want: { choice: "trial-300" },
  },
  {
    name: "without security no TLS is needed",
    given: [G(300)],
    cluster: { ...newCluster, transportTls: false, security: false },
    want: { choice: "gold-300" },
  },
  {
    name: "[licensing/L4] FIPS leaves gold out and takes platinum",
    given: [G(300), P(300)],
    cluster: { ...newCluster, fips: true },
    want: { choice: "platinum-300", verdicts: { "gold-300": "FIPSRequired", "platinum-300": "Selected" } },
  },
  {
    name: "[licensing/S20] a format that is too new for the engine",
    given: [P(300, { formatVersion: 5 })],
    cluster: { ...newCluster, minVersion: "7.5.2" },
    want: { choice: "keep", verdicts: { "platinum-300": "VersionUnsupported" } },
  },
];

const staying: readonly Case[] = [
  {
    name: "a license that the engine refused: the next one",
    given: [P(300), P(200)],
    cluster: { ...newCluster, rejectedUids: new Set(["platinum-300"]) },
    want: {
      choice: "platinum-200",
      verdicts: { "platinum-300": "RejectedByCluster", "platinum-200": "Selected" },
    },
  },
  {
    name: "without room: the next one",
    given: [P(300, { hasCapacity: false }), G(300)],
    want: { choice: "gold-300", verdicts: { "platinum-300": "CapacityExceeded", "gold-300": "Selected" } },
  },
  {
    name: "without room the license that a cluster runs under stays",
    given: [P(300, { hasCapacity: false }), G(300)],
    cluster: under(P(300)),
    want: { choice: "platinum-300", reason: "Kept" },
  },
  {
    name: "[licensing/X10] the same type for 12 h more is not worth a change",
    given: [P(300), P(0, { uid: "longer", expiryMs: nowMs + 300 * dayMs + 12 * hourMs })],
    cluster: under(P(300)),
    want: {
      choice: "platinum-300",
      reason: "Kept",
      verdicts: { "platinum-300": "Kept", longer: "Hysteresis" },
    },
  },
  {
    name: "the same type for exactly the hysteresis more is not worth a change",
    given: [P(300), P(0, { uid: "longer", expiryMs: nowMs + 301 * dayMs })],
    cluster: under(P(300)),
    want: { choice: "platinum-300", reason: "Kept" },
  },
  {
    name: "the same type for a moment longer than the hysteresis is worth a change",
    given: [P(300), P(0, { uid: "longer", expiryMs: nowMs + 301 * dayMs + 1 })],
    cluster: under(P(300)),
    want: { choice: "longer", reason: "Selected" },
  },
  {
    name: "at the moment of its end a license has ended",
    given: [],
    cluster: under(P(0)),
    want: { choice: "keep", reason: "LicenseExpired" },
  },
  {
    name: "at that moment the label for basic needs no permission to downgrade",
    given: [],
    cluster: { ...under(P(0)), desired: "basic" },
    want: { choice: "startBasic", reason: "Selected" },
  },
  {
    name: "[licensing/X10] the same type for 48 h more is",
    given: [P(300), P(302)],
    cluster: under(P(300)),
    want: { choice: "platinum-302", reason: "Selected" },
  },
  {
    name: "[licensing/X8] platinum with 5 days left is kept before gold",
    given: [P(5), G(300)],
    cluster: under(P(5)),
    want: {
      choice: "platinum-5",
      reason: "Kept",
      verdicts: { "platinum-5": "Kept", "gold-300": "LowerType" },
      wakeAtMs: nowMs + 4 * dayMs,
    },
  },
  {
    name: "[licensing/X8] 24 h before the end gold takes over",
    given: [P(1), G(300)],
    cluster: under(P(1)),
    want: { choice: "gold-300", reason: "Selected" },
  },
  {
    name: "ended without a successor: kept, nothing is started",
    given: [P(-1)],
    cluster: under(P(-1)),
    want: { choice: "keep", reason: "LicenseExpired" },
  },
  {
    name: "ended without a successor, where basic is wished for then",
    given: [P(-1)],
    cluster: under(P(-1), { onLoss: "RevertToBasic" }),
    want: { choice: "startBasic", reason: "LicenseExpired" },
  },
  {
    name: "ended, then a new one comes",
    given: [P(-1), P(300)],
    cluster: under(P(-1)),
    want: { choice: "platinum-300", reason: "Selected" },
  },
  {
    name: "deleted a minute ago: neither basic nor anything else",
    given: [],
    cluster: under(P(300), {
      onLoss: "RevertToBasic",
      allowsDowngrade: true,
      lostSinceMs: nowMs - 60_000,
    }),
    want: { choice: "keep", reason: "NoLicenseAvailable", wakeAtMs: nowMs + 14 * 60_000 },
  },
  {
    name: "deleted longer ago than the grace, and permitted",
    given: [],
    cluster: under(P(300), {
      onLoss: "RevertToBasic",
      allowsDowngrade: true,
      lostSinceMs: nowMs - 15 * 60_000,
    }),
    want: { choice: "startBasic", reason: "SourceLost" },
  },
  {
    name: "deleted longer ago than the grace, not permitted",
    given: [],
    cluster: under(P(300), { onLoss: "RevertToBasic", lostSinceMs: nowMs - 15 * 60_000 }),
    want: { choice: "keep", reason: "NoLicenseAvailable" },
  },
  {
    name: "its object no longer exists, another platinum exists: changed",
    given: [P(200)],
    cluster: under(P(300)),
    want: { choice: "platinum-200", reason: "Selected" },
  },
  {
    name: "its object no longer exists and only gold is left: the guard holds",
    given: [G(300)],
    cluster: under(P(300)),
    want: { choice: "keep", reason: "DowngradeBlocked", verdicts: { "gold-300": "DowngradeBlocked" } },
  },
  {
    name: "what the engine runs under is unknown: nothing is changed",
    given: [P(300)],
    cluster: { ...newCluster, current: undefined },
    want: { choice: "keep", reason: "CurrentUnknown" },
  },
  {
    name: "[licensing/X6] the clock is set back before its start: kept",
    given: [P(300, { startMs: nowMs + hourMs }), G(300)],
    cluster: under(P(300)),
    want: { choice: "platinum-300", reason: "Kept" },
  },
];

const pins: readonly Case[] = [
  {
    name: "platinum of the controller before gold of a user",
    given: [P(300), G(300)],
    want: { choice: "platinum-300", verdicts: { "platinum-300": "Selected", "gold-300": "LowerType" } },
  },
  {
    name: "gold pinned: the guard keeps platinum",
    given: [P(300), G(300, { isPinned: true })],
    cluster: under(P(300)),
    want: {
      choice: "platinum-300",
      reason: "DowngradeBlocked",
      verdicts: { "platinum-300": "Kept", "gold-300": "DowngradeBlocked" },
    },
  },
  {
    name: "gold pinned and the change permitted",
    given: [P(300), G(300, { isPinned: true })],
    cluster: under(P(300), { allowsDowngrade: true }),
    want: {
      choice: "gold-300",
      reason: "Selected",
      verdicts: { "gold-300": "Selected", "platinum-300": "NotPinned" },
    },
  },
  {
    name: "[licensing/A5] two pins: as without",
    given: [P(300, { isPinned: true }), G(300, { isPinned: true }), P(400)],
    want: { choice: "platinum-400", isPinConflict: true },
  },
  {
    name: "a pin of the same type is followed immediately",
    given: [P(300), P(299, { isPinned: true })],
    cluster: under(P(300)),
    want: { choice: "platinum-299", reason: "Selected" },
  },
  {
    name: "a pin of a license that cannot be used counts for nothing",
    given: [P(300), G(-1, { isPinned: true })],
    want: { choice: "platinum-300" },
  },
];

const basic = { uid: "self", type: "basic", isActive: true };
const trial = { uid: "self", type: "trial", isActive: true, expiryMs: nowMs + 20 * dayMs };

const trialAndBasic: readonly Case[] = [
  {
    name: "label trial on a basic cluster: one is started",
    given: [],
    cluster: { ...newCluster, desired: "trial", current: basic },
    want: { choice: "startTrial" },
  },
  {
    name: "a trial that the user started is left alone",
    given: [],
    cluster: { ...newCluster, current: trial },
    want: { choice: "keep", reason: "NoLicenseAvailable" },
  },
  {
    name: "platinum after a trial",
    given: [P(300)],
    cluster: { ...newCluster, current: trial },
    want: { choice: "platinum-300", reason: "Selected" },
  },
  {
    name: "a signed trial after a self-made one",
    given: [T(60)],
    cluster: { ...newCluster, current: trial },
    want: { choice: "trial-60", reason: "Selected" },
  },
  {
    name: "label trial under a trial: as wished for",
    given: [],
    cluster: { ...newCluster, desired: "trial", current: trial },
    want: { choice: "keep", reason: "AsDesired" },
  },
  {
    name: "[licensing/B1] label basic alone does not end platinum",
    given: [P(300)],
    cluster: under(P(300), { desired: "basic" }),
    want: { choice: "keep", reason: "DowngradeBlocked", verdicts: { "platinum-300": "TypeMismatch" } },
  },
  {
    name: "label basic and permitted",
    given: [P(300)],
    cluster: under(P(300), { desired: "basic", allowsDowngrade: true }),
    want: { choice: "startBasic", reason: "Selected" },
  },
  {
    name: "basic already",
    given: [],
    cluster: { ...newCluster, desired: "basic", current: basic },
    want: { choice: "keep", reason: "AsDesired" },
  },
  {
    name: "[licensing/B4] basic with security on needs transport TLS",
    given: [P(300)],
    cluster: under(P(300), { desired: "basic", allowsDowngrade: true, transportTls: false }),
    want: { choice: "keep", reason: "TLSRequired" },
  },
  {
    name: "[security/67] basic is refused while TLS is not known to be on",
    given: [P(300)],
    cluster: {
      ...under(P(300), { desired: "basic", allowsDowngrade: true }),
      transportTls: undefined,
    },
    want: { choice: "keep", reason: "TLSRequired" },
  },
];

describe.each([
  { about: "selection", cases: selection },
  { about: "staying with a license", cases: staying },
  { about: "pins", cases: pins },
  { about: "trial and basic", cases: trialAndBasic },
])("$about", ({ cases }) => {
  test.each(cases)("$name", ({ given, cluster, want }) => {
    expect(decided(given, cluster)).toMatchObject(want);
  });
});

test("[licensing/S4] the longer of two envelopes is taken, and its source is known", () => {
  const candidates = rankCandidates([
    P(60, { source: "EnterpriseLicense licenses/one" }),
    P(360, { source: "EnterpriseLicense licenses/two" }),
  ]);
  const { choice } = selectLicense({ nowMs, cluster: newCluster, candidates });
  expect(choice).toMatchObject({ kind: "use", candidate: { source: "EnterpriseLicense licenses/two" } });
});

test("[licensing/S11] after the margin platinum takes over from gold", () => {
  const candidates = [P(300, { startMs: nowMs - 23 * hourMs }), G(300)];
  const { wakeAtMs = 0 } = decided(candidates);
  expect(decided(candidates, under(G(300)), wakeAtMs)).toMatchObject({ choice: "platinum-300" });
});

test("[licensing/X1] platinum with 90 days left: the next change is 30 days before its end", () => {
  expect(decided([P(90)], under(P(90))).wakeAtMs).toBe(nowMs + 60 * dayMs);
});
