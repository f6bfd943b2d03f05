import { defineKind } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { deletedOf } from "../../../src/handover/leftovers.ts";
import type { Issue } from "../../../src/model/issue.ts";
import {
  collisionOf,
  type MemberFinding,
  preflightFrom,
  type PreflightFacts,
} from "../../../src/preflight/preflight.ts";
import type { Leftover, MemberView, Preflight } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const rejected: Issue = { reason: "Rejected", message: "no" };
const lacking = { verb: "list", group: "", resource: "secrets" };
const kind = defineKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});

function adopting(adoption: "Never" | "IfUnowned" | "Always", more: Partial<MemberView>): MemberView {
  const view = aView("c", more);
  const { member } = view;
  return { ...view, member: { ...member, lifecycle: { ...member.lifecycle, adoption } } };
}

function check(findings: readonly MemberFinding[], more: Partial<PreflightFacts> = {}): Preflight {
  return preflightFrom(findings, {
    plan: aPlan("p"),
    transformed: [],
    transformationIssues: [],
    leftovers: [],
    jobRuns: [],
    missingPermissions: [],
    elapsedMs: 0,
    ...more,
  });
}

describe("an object that exists under a name of the plan", () => {
  const unowned = { ownership: { kind: "unowned" } } as const;
  const ownedByOther = { ownership: { kind: "ownedByOther", owner: "plan ns/b" } } as const;
  const rows = [
    { adoption: "Never", view: unowned, want: "Collision" },
    { adoption: "IfUnowned", view: unowned, want: "adopt" },
    { adoption: "Always", view: unowned, want: "adopt" },
    { adoption: "Never", view: ownedByOther, want: "Collision" },
    { adoption: "IfUnowned", view: ownedByOther, want: "Collision" },
    { adoption: "Always", view: ownedByOther, want: "adopt" },
    { adoption: "Always", view: { ...unowned, isUnapproved: true }, want: "Collision" },
    { adoption: "Never", view: { ownership: { kind: "unowned", isForged: true } }, want: "NameTaken" },
    { adoption: "Never", view: { ownership: { kind: "inherited" } }, want: "takeover" },
  ] as const;

  test.each(rows)("with adoption $adoption, $view: $want", ({ adoption, view: more, want }) => {
    const view = adopting(adoption, more);
    const [issue] = collisionOf(view);
    const { actions, adopts } = check([{ view }]);
    expect(issue?.reason ?? actions[0]).toBe(want);
    expect(adopts).toEqual(want === "adopt" ? ["uid-c"] : []);
  });
});

describe("what the responses come to", () => {
  const view = aView("c");

  test("a refused dry run is an issue, unless the object is made again", () => {
    const dryRun = { kind: "issue", issue: rejected } as const;
    expect(check([{ view, dryRun }]).issues).toEqual([rejected]);
    expect(check([{ view, dryRun, isRecreated: true }])).toMatchObject({ issues: [], actions: ["recreate"] });
  });

  test.each([1, 2, 3, 4])(
    "of %i that could not be queried all are undecided, and the longest delay counts",
    (count) => {
      const transient = (at: number) =>
        ({ kind: "transient", message: `busy ${at}`, retryAfterMs: 100 * at }) as const;
      const numbers = Array.from({ length: count }, (_, at) => at + 1);
      // The last one is of a Job.
      const { undecided, retryAfterMs } = check(
        numbers.slice(0, -1).map((at) => ({ view: aView(`c${at}`), dryRun: transient(at) })),
        { jobRuns: numbers.slice(-1).map(transient) },
      );
      expect(undecided).toEqual(numbers.map((at) => `busy ${at}`));
      expect(retryAfterMs).toBe(100 * count);
    },
  );

  test("a refused Job is an issue beside a refused object", () => {
    const other: Issue = { reason: "Rejected", message: "nor this" };
    const { issues } = check([{ view, dryRun: { kind: "issue", issue: rejected } }], {
      jobRuns: [{ kind: "issue", issue: other }],
    });
    expect(issues).toEqual([rejected, other]);
  });

  test("what could not be queried is undecided, and queried again when the server says", () => {
    const dryRun = { kind: "transient", message: "busy", retryAfterMs: 700 } as const;
    expect(check([{ view, dryRun }])).toMatchObject({ issues: [], undecided: ["busy"], retryAfterMs: 700 });
  });

  test("a refused read counts as a missing permission where the review lists none", () => {
    const rule = { name: "t" } as PreflightFacts["transformed"][number]["rule"];
    const transformed = [{ rule, kind, matches: [], late: [], kept: [], unreadable: [lacking] }];
    const other = { ...lacking, verb: "create" };
    expect(check([{ view }], { transformed }).missingPermissions).toEqual([lacking]);
    expect(check([{ view }], { transformed, missingPermissions: [other] }).missingPermissions).toEqual([
      other,
    ]);
  });

  test.each([
    { approval: "Manual", count: 500, want: [] },
    { approval: "Manual", count: 501, want: ["InvalidManifest"] },
    { approval: "Automatic", count: 501, want: [] },
  ])("an approval that is $approval covers $count adoptions: $want", ({ approval, count, want }) => {
    const findings = Array.from({ length: count }, () => ({
      view: adopting("IfUnowned", { ownership: { kind: "unowned" } }),
    }));
    const { issues } = check(findings, { plan: aPlan("p", { spec: { approval } }) });
    expect(issues.map(({ reason }) => reason)).toEqual(want);
  });
});

describe("leftovers of replaced plans", () => {
  const leftover = (name: string, more: Partial<Leftover> = {}): Leftover => ({
    kind,
    live: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns" } },
    cleanup: "Delete",
    ...more,
  });
  const leftovers = [
    leftover("a"),
    leftover("b", { cleanup: "Orphan" }),
    leftover("c", { protectedBy: "others use it" }),
  ];

  test("are deleted unless they are orphaned or hold something of others", () => {
    expect(deletedOf(leftovers).map(({ live }) => live.metadata.name)).toEqual(["a"]);
  });

  test("are previewed where they are deleted", () => {
    expect(check([], { leftovers }).deletes.map(({ name }) => name)).toEqual(["a"]);
    expect(check([], { leftovers }).digest).not.toBe(check([]).digest);
  });
});

describe("the digest that an approval is given for", () => {
  const before = check([{ view: aView("c") }]).digest;
  const live = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "ns", uid: "uid-c" },
  };

  test.each([
    { name: "stays when nothing changed", view: aView("c"), isSame: true },
    {
      name: "changes with the live object",
      view: aView("c", { live: { ...live, metadata: { ...live.metadata, resourceVersion: "2" } } }),
      isSame: false,
    },
    {
      name: "changes with what is done to it",
      view: aView("c", { drift: { paths: ["/data/a"], additions: [] } }),
      isSame: false,
    },
    {
      name: "changes with the manifest",
      view: { ...aView("c"), member: { ...aView("c").member, digest: "other" } },
      isSame: false,
    },
  ])("$name", ({ view, isSame }) => {
    expect(check([{ view }]).digest === before).toBe(isSame);
  });
});
