import { licenseTypes } from "@quartermaster/api/licensing";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import {
  dayMs,
  effectiveExpiryMs,
  type LicenseCandidate,
  type LicensedCluster,
  licenseTypeRank,
  rankCandidates,
  selectLicense,
  type LicenseSelection,
} from "../../src/index.ts";
import { license, newCluster, nowMs, parent } from "../support/license-state.ts";

const days = fc.integer({ min: -40, max: 400 });

const candidate = fc
  .record({
    uid: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    type: fc.constantFrom(...licenseTypes),
    start: fc.integer({ min: -400, max: 40 }),
    expiry: days,
    hasParent: fc.boolean(),
    parentExpiry: days,
    isPinned: fc.boolean(),
    hasCapacity: fc.boolean(),
    problem: fc.option(fc.constantFrom("Malformed" as const, "SignatureInvalid" as const), {
      freq: 5,
      nil: undefined,
    }),
  })
  .map(({ start, expiry, hasParent, parentExpiry, problem, ...rest }) => ({
    ...rest,
    source: "",
    startMs: nowMs + start * dayMs,
    expiryMs: nowMs + expiry * dayMs,
    ...(hasParent ? { parent: { startMs: parent.startMs, expiryMs: nowMs + parentExpiry * dayMs } } : {}),
    ...(problem === undefined ? {} : { problem }),
  }));

/** Copies of one license have different sources. */
const candidates = fc
  .array(candidate, { maxLength: 12 })
  .map((list): readonly LicenseCandidate[] =>
    list.map((each, at) => ({ ...each, source: `license-${String(at)}` })),
  );

const cluster: fc.Arbitrary<LicensedCluster> = fc
  .record({
    desired: fc.option(fc.constantFrom("gold", "platinum", "trial", "basic", "invalid"), { nil: undefined }),
    allowsDowngrade: fc.boolean(),
    onLoss: fc.constantFrom("Keep", "RevertToBasic"),
    minVersion: fc.constantFrom("6.3.0", "7.7.0", "7.17.28", "8.19.0"),
    transportTls: fc.boolean(),
    security: fc.boolean(),
    fips: fc.boolean(),
    rejected: fc.subarray(["a", "b", "c"]),
    current: fc.option(
      fc.record({
        uid: fc.constantFrom("a", "b", "c", "self"),
        type: fc.constantFrom("missing", "basic", ...licenseTypes),
        days,
        isActive: fc.boolean(),
      }),
      { nil: undefined, freq: 8 },
    ),
  })
  .map(({ desired, rejected, current, ...rest }) => ({
    ...rest,
    rejectedUids: new Set(rejected),
    ...(desired === undefined ? {} : { desired }),
    ...(current === undefined
      ? {}
      : {
          current: {
            ...(current.type === "missing" ? {} : { uid: current.uid }),
            type: current.type,
            isActive: current.isActive,
            ...(current.type === "basic" ? {} : { expiryMs: nowMs + current.days * dayMs }),
          },
        }),
  }));

function select(given: readonly LicenseCandidate[], facts: LicensedCluster): LicenseSelection {
  return selectLicense({ nowMs, cluster: facts, candidates: rankCandidates(given) });
}

/** Checks a statement about questions and their answers. */
function holds(
  statement: (
    given: readonly LicenseCandidate[],
    facts: LicensedCluster,
    decision: LicenseSelection,
  ) => boolean,
): void {
  fc.assert(
    fc.property(candidates, cluster, (given, facts) => statement(given, facts, select(given, facts))),
    { numRuns: 20_000 },
  );
}

test("there is a response for every question, with a verdict for every candidate", () => {
  expect(() => {
    holds((given, _, { verdicts, choice, wakeAtMs }) => {
      const chosen = verdicts.filter((verdict) => verdict === "Selected" || verdict === "Kept");
      const isOffered = choice.kind !== "use" || given.includes(choice.candidate);
      const isAhead = wakeAtMs === undefined || wakeAtMs > nowMs;
      return verdicts.length === given.length && chosen.length <= 1 && isOffered && isAhead;
    });
  }).not.toThrow();
});

test("[licensing/S17] equal licenses: the smaller uid in every order of 1,000", () => {
  const pair = [
    license("platinum", 300, { uid: "b" }),
    license("platinum", 300, { uid: "a" }),
    license("gold", 300),
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(pair, { minLength: 3 }), (given) => {
      expect(select(given, newCluster).choice).toMatchObject({ candidate: { uid: "a" } });
    }),
    { numRuns: 60_000 },
  );
});

test("[security/63] the order of candidates changes nothing", () => {
  const shuffled = candidates.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray([...given], { minLength: given.length })),
  );
  fc.assert(
    fc.property(shuffled, cluster, ([given, other], facts) => {
      expect(select(other, facts)).toEqual(select(given, facts));
    }),
    { numRuns: 60_000 },
  );
});

/** What the engine runs under is valid: by its word, and by the dates of the copies that are at hand. */
function hasValidLicense(given: readonly LicenseCandidate[], { current }: LicensedCluster): boolean {
  if (current === undefined || !current.isActive || current.type === "missing") return false;
  const copies = given.filter(({ uid }) => uid === current.uid);
  const ends = [...copies.map(effectiveExpiryMs), current.expiryMs ?? Number.POSITIVE_INFINITY];
  return ends.every((endMs) => nowMs < endMs);
}

test("a valid license is never left for an invalid one", () => {
  expect(() => {
    holds((_, facts, { choice }) => {
      if (choice.kind !== "use" || choice.candidate.uid === facts.current?.uid) return true;
      const { candidate: next } = choice;
      const isValid = next.startMs <= nowMs && nowMs < effectiveExpiryMs(next);
      return isValid && next.problem === undefined && !facts.rejectedUids.has(next.uid);
    });
  }).not.toThrow();
});

function isSame(choice: LicenseSelection["choice"], uid: string | undefined): boolean {
  return choice.kind === "keep" || (choice.kind === "use" && choice.candidate.uid === uid);
}

test("a lower type, or basic, never replaces a valid license without a rule that says so", () => {
  expect(() => {
    holds((given, facts, { choice }) => {
      const { current } = facts;
      if (current === undefined || !hasValidLicense(given, facts)) return true;
      if (isSame(choice, current.uid)) return true;
      const nextRank = choice.kind === "use" ? licenseTypeRank(choice.candidate.type) : 0;
      const isLower = choice.kind !== "startTrial" && nextRank < licenseTypeRank(current.type);
      const copies = given.filter(({ uid }) => uid === current.uid).map(effectiveExpiryMs);
      const endMs = Math.min(current.expiryMs ?? Number.POSITIVE_INFINITY, ...copies);
      return !isLower || facts.allowsDowngrade || endMs - dayMs <= nowMs;
    });
  }).not.toThrow();
});

function isWithinHour(momentMs: number): boolean {
  return momentMs <= nowMs && momentMs > nowMs - dayMs / 24;
}

test("[licensing/X6] once applied, a choice is kept, also when the clock is set back an hour", () => {
  expect(() => {
    holds((given, facts, { choice }) => {
      // One that ended within the hour is valid again where the clock says so, and a pin that capacity takes away makes one change.
      const isEdge = given.some(
        (each) =>
          each.isPinned === true && (each.hasCapacity === false || isWithinHour(effectiveExpiryMs(each))),
      );
      if (choice.kind !== "use" || isEdge) return true;
      const { uid, type, expiryMs } = choice.candidate;
      // What runs already is not applied again: of that the engine's own words stay.
      const { current } = facts;
      const isValid =
        current?.isActive === true && current.type !== "missing" && nowMs < (current.expiryMs ?? Infinity);
      const after =
        isValid && current.uid === uid
          ? facts
          : { ...facts, current: { uid, type, expiryMs, isActive: true } };
      return [nowMs, nowMs - dayMs / 24].every((atMs) => {
        const again = selectLicense({
          nowMs: atMs,
          cluster: after,
          candidates: rankCandidates(given),
        }).choice;
        return isSame(again, uid);
      });
    });
  }).not.toThrow();
});
