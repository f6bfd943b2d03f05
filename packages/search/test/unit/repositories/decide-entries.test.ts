import { describe, expect, test } from "vitest";

import {
  decideEntries,
  type EntryFacts,
  type EntryPlan,
  type EntryRecord,
  isEntriesDone,
} from "../../../src/declared-entries/decide-entries.ts";

const refuses = { overwritesForeign: false, isVerified: true, mostRecords: 128 };
const overwrites = { overwritesForeign: true, isVerified: false, mostRecords: 128 };

const record = (digests: readonly string[], changes: Partial<EntryRecord> = {}): EntryRecord => ({
  name: "a",
  digests: [...digests],
  ...changes,
});

interface Case {
  readonly name: string;
  /** Digests of what is declared and of what the engine has under the name. */
  readonly wanted?: string;
  readonly present?: string;
  readonly recorded?: EntryRecord;
  readonly policy?: typeof refuses;
  readonly want: Partial<EntryPlan>;
}

const nothing: EntryPlan = { put: [], verify: [], drop: [], conflicts: [], left: [], before: [], after: [] };
const both = (records: readonly EntryRecord[]): Pick<EntryPlan, "before" | "after"> => ({
  before: records,
  after: records,
});

const cases: readonly Case[] = [
  { name: "what others have and no one declares is not touched", present: "x", want: {} },
  { name: "a new one is recorded before it is written", wanted: "v1", want: both([record(["v1"])]) },
  {
    name: "one that is recorded and not there is written",
    wanted: "v1",
    recorded: record(["v1"]),
    want: { put: ["a"], ...both([record(["v1"])]) },
  },
  {
    name: "one that is there as declared, and not by us, is recorded as another client's",
    wanted: "v1",
    present: "v1",
    want: both([record(["v1"], { foreign: true })]),
  },
  {
    name: "one that is there in another form, and not by us, is a conflict",
    wanted: "v1",
    present: "x",
    want: { conflicts: ["a"] },
  },
  {
    name: "one that was another client's and has another form now is a conflict",
    wanted: "v1",
    present: "x",
    recorded: record(["v1"], { foreign: true }),
    want: { conflicts: ["a"], ...both([record(["v1"], { foreign: true })]) },
  },
  {
    name: "one that was another client's and is deleted becomes ours, recorded first",
    wanted: "v1",
    recorded: record(["v1"], { foreign: true }),
    want: both([record(["v1"])]),
  },
  {
    name: "one that we wrote is tried out",
    wanted: "v1",
    present: "v1",
    recorded: record(["v1"]),
    want: { verify: ["a"], before: [record(["v1"])], after: [record(["v1"], { verified: true })] },
  },
  {
    name: "one that was tried out is done",
    wanted: "v1",
    present: "v1",
    recorded: record(["v1"], { verified: true }),
    want: both([record(["v1"], { verified: true })]),
  },
  {
    name: "a new form is recorded besides the old one before it is written",
    wanted: "v2",
    present: "v1",
    recorded: record(["v1"], { verified: true }),
    want: both([record(["v1", "v2"])]),
  },
  {
    name: "a new form that is recorded is written over ours",
    wanted: "v2",
    present: "v1",
    recorded: record(["v1", "v2"]),
    want: { put: ["a"], ...both([record(["v1", "v2"])]) },
  },
  {
    name: "the old form is forgotten once the new one is there",
    wanted: "v2",
    present: "v2",
    recorded: record(["v1", "v2"], { verified: true }),
    want: { verify: ["a"], before: [record(["v2"])], after: [record(["v2"], { verified: true })] },
  },
  {
    name: "ours that another client changed is a conflict, and not overwritten",
    wanted: "v1",
    present: "x",
    recorded: record(["v1"], { verified: true }),
    want: { conflicts: ["a"], ...both([record(["v1"])]) },
  },
  {
    name: "ours that is no longer declared is dropped",
    present: "v1",
    recorded: record(["v1"], { verified: true }),
    want: { drop: ["a"], before: [record(["v1"], { verified: true })] },
  },
  {
    name: "ours is dropped although its new form was never recorded as written",
    present: "v1",
    recorded: record(["v1", "v2"]),
    want: { drop: ["a"], before: [record(["v1", "v2"])] },
  },
  {
    name: "ours that another client changed stays when it is no longer declared",
    present: "x",
    recorded: record(["v1"]),
    want: { left: ["a"] },
  },
  {
    name: "another client's stays when it is no longer declared",
    present: "v1",
    recorded: record(["v1"], { foreign: true }),
    want: {},
  },
  {
    name: "ours that no longer exists is forgotten when it is no longer declared",
    recorded: record(["v1"]),
    want: {},
  },
  {
    name: "where what is declared wins, a value of another client is replaced, recorded first",
    policy: overwrites,
    wanted: "v1",
    present: "x",
    want: both([record(["v1"])]),
  },
  {
    name: "where what is declared wins, a changed value is written again",
    policy: overwrites,
    wanted: "v1",
    present: "x",
    recorded: record(["v1"]),
    want: { put: ["a"], ...both([record(["v1"])]) },
  },
  {
    name: "where what is declared wins, a value that another client changed still stays when it is no longer declared",
    policy: overwrites,
    present: "x",
    recorded: record(["v1"]),
    want: { left: ["a"] },
  },
  {
    name: "where nothing is tried out, one that is there is done",
    policy: overwrites,
    wanted: "v1",
    present: "v1",
    recorded: record(["v0", "v1"]),
    want: both([record(["v1"])]),
  },
];

function factsOf({ wanted, present, recorded }: Pick<Case, "wanted" | "present" | "recorded">): EntryFacts {
  return {
    wanted: new Map(wanted === undefined ? [] : [["a", wanted]]),
    present: new Map(present === undefined ? [] : [["a", present]]),
    recorded: recorded === undefined ? [] : [recorded],
  };
}

describe("entries of the engine that a spec declares", () => {
  test.for(cases)("$name", ({ policy = refuses, want, ...given }) => {
    expect(decideEntries(factsOf(given), policy)).toEqual({ ...nothing, ...want });
  });

  test("the form that the engine has is never pushed out of the record by later ones", () => {
    let digests = ["v0"];
    for (const wanted of ["v1", "v2", "v3", "v4", "v5"]) {
      const { after } = decideEntries(factsOf({ wanted, present: "v0", recorded: record(digests) }), refuses);
      digests = after[0]?.digests ?? [];
      expect(digests).toContain("v0");
      expect(digests.at(-1)).toBe(wanted);
      expect(digests.length).toBeLessThanOrEqual(4);
    }
  });

  test("the record never has more entries than the status may hold", () => {
    const wanted = new Map(Array.from({ length: 200 }, (_, at) => [`n${String(at)}`, "v"] as const));
    const { before, after } = decideEntries({ wanted, present: new Map(), recorded: [] }, refuses);
    expect([before.length, after.length]).toEqual([128, 128]);
  });

  test("whatever crash cuts it short: nothing is dropped or overwritten that we did not write", () => {
    const digests = [undefined, "v1", "v2", "x"];
    const records = [undefined, record(["v1"]), record(["v1", "v2"]), record(["v1"], { foreign: true })];
    const all = [refuses, overwrites].flatMap((policy) =>
      digests.flatMap((wanted) =>
        digests.flatMap((present) => records.map((recorded) => ({ policy, wanted, present, recorded }))),
      ),
    );
    const wrote = (recorded: EntryRecord | undefined, digest: string | undefined): boolean =>
      recorded?.foreign !== true && recorded?.digests.includes(digest ?? "") === true;
    const plans = all.map(({ policy, ...given }) => ({
      ...given,
      policy,
      ...decideEntries(factsOf(opt(given)), policy),
    }));
    const drops = plans.filter(({ drop }) => drop.length > 0);
    expect(drops.filter(({ wanted }) => wanted !== undefined)).toEqual([]);
    expect(drops.filter(({ recorded, present }) => !wrote(recorded, present))).toEqual([]);
    const puts = plans.filter(({ put }) => put.length > 0);
    expect(puts.filter(({ recorded, wanted }) => !wrote(recorded, wanted))).toEqual([]);
    const replaced = puts.filter(({ present, policy }) => present !== undefined && !policy.overwritesForeign);
    expect(replaced.filter(({ recorded, present }) => !wrote(recorded, present))).toEqual([]);
    expect([all.length, drops.length > 0, puts.length > 0, replaced.length > 0]).toEqual([
      128,
      true,
      true,
      true,
    ]);
  });

  test.for<{
    readonly name: string;
    readonly recorded: readonly EntryRecord[];
    readonly want: boolean;
  }>([
    { name: "tried out", recorded: [record(["v1"], { verified: true })], want: true },
    { name: "another client else's", recorded: [record(["v1"], { foreign: true })], want: true },
    { name: "not tried out", recorded: [record(["v1"])], want: false },
    { name: "between two forms", recorded: [record(["v0", "v1"], { verified: true })], want: false },
    { name: "another form", recorded: [record(["v0"], { verified: true })], want: false },
    { name: "not recorded", recorded: [], want: false },
  ])("the engine is queried until all is done: $name", ({ recorded, want }) => {
    expect(isEntriesDone({ wanted: new Map([["a", "v1"]]), recorded }, refuses)).toBe(want);
  });

  test("a record of what is no longer declared is not done", () => {
    expect(isEntriesDone({ wanted: new Map(), recorded: [record(["v1"])] }, refuses)).toBe(false);
    expect(isEntriesDone({ wanted: new Map(), recorded: [] }, refuses)).toBe(true);
  });
});

function opt(given: {
  readonly wanted: string | undefined;
  readonly present: string | undefined;
  readonly recorded: EntryRecord | undefined;
}): Pick<Case, "wanted" | "present" | "recorded"> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
