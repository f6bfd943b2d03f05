import { defineKind, firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { rules } from "../../src/rules.ts";
import type { Seen } from "../../src/seen.ts";
import { aPlan } from "../support/plans.ts";
import { aSeen, aView, clear } from "../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");
const began = { startedAt: "2026-01-01T00:00:00Z", stage: "s", attempt: 1, phase: "Applying" };
const installed = { ...began, finishedAt: "2026-01-01T00:00:00Z", phase: "Installed" };
const issue = { reason: "Rejected", message: "no" } as const;
const unresolved = [
  { reason: "ManifestMissing", name: "rm", message: "gone", stage: "s", index: 0 },
] as const;
const successor = { name: "b", uid: "uid-b", isDone: false };
const failure = {
  action: "apply",
  kind: "rejected",
  reason: "Rejected",
  message: "no",
  count: 1,
  notBeforeMs: 60_000,
  triedAtMs: 0,
} as const;
const unwatchable = [
  defineKind({ group: "example.org", version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }),
];
const drift = { paths: ["/data/a"], additions: [], manager: "kubectl-edit" };

interface Row {
  readonly rule: string;
  readonly given: Seen;
  readonly phase: string;
  readonly actions: readonly string[];
}

function fresh(more: Partial<Seen> = {}, spec: object = {}): Seen {
  return aSeen(aPlan("p", { spec }), {
    preflight: clear,
    members: [aView("c", { ownership: { kind: "absent" }, state: "Waiting" })],
    ...more,
  });
}

function applying(more: Partial<Seen> = {}, spec: object = {}): Seen {
  return aSeen(aPlan("p", { spec, status: began }), more);
}

function steady(more: Partial<Seen> = {}, spec: object = {}): Seen {
  return aSeen(aPlan("p", { spec, status: installed }), more);
}

function content(more: Partial<Seen["content"]>): Pick<Seen, "content"> {
  return { content: { ...aSeen(aPlan("p")).content, ...more } };
}

function replacement(more: Partial<Seen["replacement"]>): Pick<Seen, "replacement"> {
  return { replacement: { ...aSeen(aPlan("p")).replacement, ...more } };
}

const rows: readonly Row[] = [
  { rule: "superseded", given: fresh(replacement({ successor })), phase: "Superseded", actions: [] },
  {
    rule: "superseded",
    given: steady(replacement({ successor: { ...successor, isDone: true } })),
    phase: "Superseded",
    actions: [],
  },
  {
    rule: "beingReplaced",
    given: steady({ ...replacement({ successor }), members: [aView("c", { drift, state: "Drifted" })] }),
    phase: "Replacing",
    actions: [],
  },
  {
    rule: "paused",
    given: steady({ members: [aView("c", { drift, state: "Drifted" })] }, { paused: true }),
    phase: "Paused",
    actions: [],
  },
  {
    rule: "paused",
    given: aSeen(
      aPlan("p", {
        spec: { paused: true, approval: "Manual" },
        status: { phase: "AwaitingApproval" },
      }),
    ),
    phase: "Paused",
    actions: [],
  },
  {
    rule: "paused",
    given: aSeen(aPlan("p", { spec: { paused: true }, status: { ...installed, phase: "Replacing" } })),
    phase: "Paused",
    actions: [],
  },
  {
    rule: "manifestsMissing",
    given: fresh(content({ unresolved, issues: [issue] })),
    phase: "Resolving",
    actions: [],
  },
  {
    rule: "contentInvalid",
    given: fresh({ ...content({ issues: [issue] }), account: { kind: "missing" } }),
    phase: "Invalid",
    actions: [],
  },
  { rule: "accountMissing", given: fresh({ account: { kind: "missing" } }), phase: "Forbidden", actions: [] },
  {
    rule: "accountMissing",
    given: fresh({ account: { kind: "impersonationDenied", uid: "u", remedy: "let it" } }),
    phase: "Forbidden",
    actions: [],
  },
  { rule: "kindsUnwatchable", given: fresh({ unwatchable }), phase: "Forbidden", actions: [] },
  {
    rule: "kindsUnwatchable",
    given: applying({
      unwatchable,
      members: [aView("c", { ownership: { kind: "absent" }, state: "Waiting" })],
    }),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "kindsUnwatchable",
    given: steady({ unwatchable, members: [aView("c", { drift, state: "Drifted" })] }),
    phase: "Degraded",
    actions: [],
  },
  {
    rule: "asInstalled",
    given: steady({
      account: { kind: "replaced", uid: "other" },
      members: [aView("c", { drift, state: "Drifted" })],
    }),
    phase: "Degraded",
    actions: [],
  },
  {
    rule: "accountMissing",
    given: applying({
      account: { kind: "authorUnauthorized", uid: "u", author: "eve" },
      members: [aView("d", { ownership: { kind: "absent" }, state: "Waiting" })],
    }),
    phase: "Forbidden",
    actions: [],
  },
  {
    rule: "asInstalled",
    given: steady({
      account: { kind: "authorUnauthorized", uid: "u", author: "eve" },
      members: [aView("c", { drift, state: "Drifted" })],
    }),
    phase: "Degraded",
    actions: [],
  },
  {
    rule: "permissionsMissing",
    given: fresh({
      preflight: { ...clear, missingPermissions: [{ verb: "create", group: "", resource: "configmaps" }] },
    }),
    phase: "Forbidden",
    actions: [],
  },
  {
    rule: "serverUndecided",
    given: fresh({ preflight: { ...clear, undecided: ["down"] } }),
    phase: "Validating",
    actions: [],
  },
  {
    rule: "awaitingApproval",
    given: fresh({}, { approval: "Manual" }),
    phase: "AwaitingApproval",
    actions: [],
  },
  {
    rule: "awaitingApproval",
    given: fresh({}, { approval: "Manual", approved: true, approvedPreview: "older" }),
    phase: "AwaitingApproval",
    actions: [],
  },
  {
    rule: "cleared",
    given: fresh({}, { approval: "Manual", approved: true, approvedPreview: "digest" }),
    phase: "Applying",
    actions: [],
  },
  {
    rule: "predecessorsHold",
    given: fresh(
      replacement({ predecessors: [{ name: "a", uid: "uid-a", state: "Pending", hasLetGo: false }] }),
    ),
    phase: "Validating",
    actions: [],
  },
  { rule: "cleared", given: fresh(), phase: "Applying", actions: [] },
  {
    rule: "cleared",
    given: fresh(content({ warnings: ["left out"] })),
    phase: "Applying",
    actions: ["warn"],
  },
  {
    rule: "contentLost",
    given: applying({
      ...content({ unresolved }),
      members: [aView("d", { ownership: { kind: "absent" }, state: "Waiting" })],
    }),
    phase: "Applying",
    actions: [],
  },
  {
    rule: "contentLost",
    given: applying(content({ unresolved: [{ ...unresolved[0], reason: "ContentChanged" }] })),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "objectTaken",
    given: applying({
      members: [
        aView("c", { ownership: { kind: "unowned" }, state: "Waiting" }),
        aView("d", { ownership: { kind: "absent" }, state: "Waiting" }),
      ],
    }),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "objectRefused",
    given: applying({
      members: [
        aView("c", { failure, state: "Failed" }),
        aView("d", { ownership: { kind: "absent" }, state: "Waiting" }),
      ],
    }),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "stepRefused",
    given: applying({ writeFailures: [failure] }),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "objectRefused",
    given: applying({
      members: [aView("c", { failure: { ...failure, kind: "forbidden" }, state: "Failed" })],
      recentlyChanged: ["permissions"],
      nowMs: 1_000,
    }),
    phase: "Failed",
    actions: ["forgetWriteFailures"],
  },
  {
    rule: "writesDue",
    given: applying({
      members: [aView("c"), aView("d", { ownership: { kind: "absent" }, state: "Waiting" })],
    }),
    phase: "Applying",
    actions: ["apply"],
  },
  {
    rule: "writesBlocked",
    given: applying({
      members: [
        aView("d", {
          ownership: { kind: "absent" },
          state: "Waiting",
          blockedBy: { reason: "WaitingForKind", message: "kind X is not served yet" },
        }),
      ],
    }),
    phase: "Applying",
    actions: [],
  },
  {
    rule: "writesBlocked",
    given: applying({
      members: [
        aView("d", {
          ownership: { kind: "absent" },
          state: "Waiting",
          blockedBy: { reason: "NamespaceReplaced", message: "namespace x was deleted and recreated" },
        }),
      ],
    }),
    phase: "Failed",
    actions: [],
  },
  {
    rule: "gateClosed",
    given: applying({ members: [aView("c", { state: "InProgress" })] }),
    phase: "Applying",
    actions: [],
  },
  {
    rule: "gateClosed",
    given: applying({ members: [aView("c", { state: "InProgress" })], stageElapsedMs: 601_000 }),
    phase: "Failed",
    actions: [],
  },
  { rule: "stagePassed", given: applying(), phase: "Installed", actions: ["reportStage"] },
  {
    rule: "finished",
    given: aSeen(aPlan("p", { status: { ...began, stage: "(finishing)" } })),
    phase: "Installed",
    actions: [],
  },
  {
    rule: "contentChanged",
    given: steady({
      ...content({ unresolved: [{ ...unresolved[0], reason: "ContentChanged" }] }),
      members: [aView("c", { drift, state: "Drifted" })],
    }),
    phase: "Degraded",
    actions: [],
  },
  {
    rule: "repairsDue",
    given: steady({ members: [aView("c", { drift, state: "Drifted" })] }),
    phase: "Degraded",
    actions: ["apply"],
  },
  {
    rule: "asInstalled",
    given: steady({
      members: [aView("c", { drift, state: "Drifted", revertConflict: { manager: "x", notBeforeMs: 1 } })],
    }),
    phase: "Degraded",
    actions: [],
  },
  { rule: "asInstalled", given: steady(), phase: "Installed", actions: [] },
];

describe("the first rule that matches decides", () => {
  test.each(rows.map((row, index) => ({ ...row, index })))(
    "$index: $rule says $phase",
    ({ rule, given, phase, actions }) => {
      const { rule: responded, verdict } = firstDecision(rules, given, now);
      expect(responded.name).toBe(rule);
      expect(verdict.status).toMatchObject({ phase });
      expect(verdict.actions.map(({ kind }) => kind)).toEqual(actions);
    },
  );

  test("nothing is written before everything was checked: no rule of that part has an action on an object", () => {
    const before = rows.filter(({ given }) => given.plan.status === undefined);
    for (const { given } of before)
      expect(
        firstDecision(rules, given, now).verdict.actions.filter(
          ({ kind }) => kind !== "claimManifest" && kind !== "warn",
        ),
      ).toEqual([]);
  });
});
