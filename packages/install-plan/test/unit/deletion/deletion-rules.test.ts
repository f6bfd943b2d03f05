import { firstDecision } from "@quartermaster/runtime";
import { configMaps, type Job } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { deletionRules } from "../../../src/deletion/deletion-rules.ts";
import type { DeletionSeen, Remaining, Unread } from "../../../src/deletion/deletion-seen.ts";
import { identityKey } from "../../../src/model/identity.ts";
import type { WriteFailure } from "../../../src/model/write-failure.ts";
import type { PlanAction } from "../../../src/plan-action.ts";
import { aPlan } from "../../support/plans.ts";

const now = new Date("2026-01-01T00:00:00Z");
const since = "2026-01-01T00:00:00Z";
const started = { startedAt: since, stage: "s", phase: "Installed", finishedAt: since };

interface Facts {
  readonly stageIndex?: number;
  readonly isCustomResource?: boolean;
  readonly cleanup?: "Delete" | "Orphan";
  readonly protectedBy?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
}

function unread(
  name: string,
  { stageIndex = 0, isCustomResource = false, cleanup = "Delete" }: Facts = {},
): Unread {
  const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name };
  const lifecycle = { ...aPlan("any").spec.lifecycle, cleanup };
  return { identity, key: identityKey(identity), stageIndex, index: 0, lifecycle, isCustomResource };
}

function left(name: string, facts: Facts = {}): Remaining {
  const { protectedBy, deletionTimestamp, finalizers } = facts;
  const metadata = {
    name,
    namespace: "ns",
    uid: `uid-${name}`,
    resourceVersion: "1",
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  return {
    ...unread(name, facts),
    kind: configMaps,
    live: { apiVersion: "v1", kind: "ConfigMap", metadata },
    ...(protectedBy === undefined ? {} : { protectedBy }),
  };
}

function job(name: string): Job {
  const metadata = { name, namespace: "ns", uid: `uid-${name}` };
  return { apiVersion: "batch/v1", kind: "Job", metadata };
}

function refusal(action: "delete" | "release", name: string): readonly [string, WriteFailure] {
  const output = {
    reason: "Forbidden",
    message: `${name} was rejected`,
    count: 1,
    notBeforeMs: 0,
    triedAtMs: 0,
  };
  return [`uid-${name}`, { action, uid: `uid-${name}`, kind: "forbidden", ...output }];
}

interface Given extends Partial<Omit<DeletionSeen, "plan">> {
  readonly spec?: object;
  readonly status?: object;
}

function seen({ spec = {}, status = started, ...more }: Given): DeletionSeen {
  return {
    plan: aPlan("p", { spec, status }),
    remaining: [],
    unconfirmed: [],
    isPending: false,
    runningJobs: [],
    account: "present",
    isNamespaceTerminating: false,
    isOrphanRequested: false,
    isOverdue: false,
    refusals: new Map(),
    requested: new Set(),
    recentlyChanged: [],
    dependents: [],
    ...more,
  };
}

function describeAction(action: PlanAction): string {
  if ("target" in action) return `${action.kind} ${action.target.live.metadata.name}`;
  return action.kind === "warn" ? `warn ${action.reason}` : action.kind;
}

const orphanIfUnauthorized = { deletion: { ifUnauthorized: "Orphan", timeoutSeconds: 0, onTimeout: "Wait" } };
const orphaning = { ...started, deletion: { remaining: 2, orphan: true } };

interface Row {
  readonly name: string;
  readonly given: Given;
  readonly rule: string;
  readonly actions: readonly string[];
  readonly outcome: string;
}

const rows: readonly Row[] = [
  {
    name: "a plan that never started owns nothing",
    given: { status: {}, remaining: [left("a")] },
    rule: "nothingOwned",
    actions: [],
    outcome: "settled",
  },
  {
    name: "a plan that was replaced owns nothing",
    given: { status: { ...started, phase: "Superseded" }, remaining: [left("a")] },
    rule: "nothingOwned",
    actions: [],
    outcome: "settled",
  },
  {
    name: "the finalizer stays while the operator may not look",
    given: { unseen: "the operator may not list configmaps" },
    rule: "cannotSee",
    actions: [],
    outcome: "stalled 5000",
  },
  {
    name: "permissions that just changed bring it back sooner",
    given: { unseen: "the operator may not list configmaps", recentlyChanged: ["permissions"] },
    rule: "cannotSee",
    actions: [],
    outcome: "stalled 500",
  },
  {
    name: "a plan that may let go does so when the operator may not look, and says so",
    given: { unseen: "the operator may not list configmaps", spec: orphanIfUnauthorized },
    rule: "cannotSee",
    actions: ["warn Orphaned"],
    outcome: "settled",
  },
  {
    name: "a plan in a namespace that goes does not hold it up",
    given: { unseen: "the operator may not list configmaps", isNamespaceTerminating: true },
    rule: "cannotSee",
    actions: ["warn Orphaned"],
    outcome: "settled",
  },
  {
    name: "nothing is taken for gone before every watch has shown its first picture",
    given: { isPending: true },
    rule: "stillReading",
    actions: [],
    outcome: "waiting 100",
  },
  { name: "nothing remains", given: {}, rule: "nothingRemains", actions: [], outcome: "settled" },
  {
    name: "plans that depend on it and are deleted too go first",
    given: { remaining: [left("a")], dependents: ["app"] },
    rule: "dependentsFirst",
    actions: [],
    outcome: "waiting 5000",
  },
  {
    name: "a deletion that has had its time waits for no other plan",
    given: { remaining: [left("a")], dependents: ["app"], isOverdue: true },
    rule: "nextStep",
    actions: ["release a"],
    outcome: "waiting 5000",
  },
  {
    name: "what may still be there behind a silent API keeps the finalizer",
    given: { unconfirmed: [unread("a")] },
    rule: "unansweredFirst",
    actions: [],
    outcome: "waiting 5000",
  },
  {
    name: "what was made before silent objects waits for them",
    given: { unconfirmed: [unread("b", { stageIndex: 1 })], remaining: [left("a")] },
    rule: "unansweredFirst",
    actions: [],
    outcome: "waiting 5000",
  },
  {
    name: "what was made after silent objects goes",
    given: { unconfirmed: [unread("a")], remaining: [left("b", { stageIndex: 1 })] },
    rule: "nextStep",
    actions: ["delete b"],
    outcome: "waiting 5000",
  },
  {
    name: "a plan that has had its time does not wait for a silent API",
    given: { unconfirmed: [unread("a")], isOverdue: true },
    rule: "nothingRemains",
    actions: [],
    outcome: "settled",
  },
  {
    name: "a request to orphan is written down before anything is released",
    given: { isOrphanRequested: true, remaining: [left("a")] },
    rule: "orphanRequested",
    actions: [],
    outcome: "waiting 0",
  },
  {
    name: "what is orphaned is released, never deleted, Jobs that run included",
    given: {
      isOrphanRequested: true,
      status: orphaning,
      remaining: [left("a"), left("b")],
      runningJobs: [job("j")],
    },
    rule: "nextStep",
    actions: ["release b", "release a"],
    outcome: "waiting 5000",
  },
  {
    name: "after its time everything is released",
    given: { isOverdue: true, remaining: [left("a")] },
    rule: "nextStep",
    actions: ["release a"],
    outcome: "waiting 5000",
  },
  {
    name: "without its account nothing is done",
    given: { account: "missing", remaining: [left("a")] },
    rule: "accountUnusable",
    actions: [],
    outcome: "stalled 30000",
  },
  {
    name: "an account made again under the name deletes nothing",
    given: { account: "replaced", remaining: [left("a")] },
    rule: "accountUnusable",
    actions: [],
    outcome: "stalled 30000",
  },
  {
    name: "without its account a plan that may let go does so",
    given: { account: "replaced", remaining: [left("a")], spec: orphanIfUnauthorized },
    rule: "accountUnusable",
    actions: ["warn Orphaned"],
    outcome: "settled",
  },
  {
    name: "Jobs that run go first",
    given: { runningJobs: [job("j")], remaining: [left("a")] },
    rule: "nextStep",
    actions: ["delete j"],
    outcome: "waiting 5000",
  },
  {
    name: "stages go in the reverse order, one at a time",
    given: { remaining: [left("a"), left("b", { stageIndex: 1 }), left("c", { stageIndex: 1 })] },
    rule: "nextStep",
    actions: ["delete c", "delete b"],
    outcome: "waiting 5000",
  },
  {
    name: "custom resources go before every stage",
    given: { remaining: [left("controller", { stageIndex: 3 }), left("widget", { isCustomResource: true })] },
    rule: "nextStep",
    actions: ["delete widget"],
    outcome: "waiting 5000",
  },
  {
    name: "what the lifecycle keeps is released",
    given: { remaining: [left("a", { cleanup: "Orphan" }), left("b")] },
    rule: "nextStep",
    actions: ["delete b", "release a"],
    outcome: "waiting 5000",
  },
  {
    name: "what holds data of others is released with a warning",
    given: { remaining: [left("a", { protectedBy: "it contains data" })] },
    rule: "nextStep",
    actions: ["warn Protected", "release a"],
    outcome: "waiting 5000",
  },
  {
    name: "what is requested already is not requested again",
    given: { remaining: [left("a"), left("b")], requested: new Set(["uid-a", "uid-b"]) },
    rule: "underWay",
    actions: [],
    outcome: "waiting 5000",
  },
  {
    name: "what is going already holds up its stage and is named",
    given: {
      remaining: [left("a"), left("b", { stageIndex: 1, deletionTimestamp: since, finalizers: ["x/y"] })],
    },
    rule: "underWay",
    actions: [],
    outcome: "waiting 5000",
  },
  {
    name: "what is going already can still be released",
    given: { status: orphaning, remaining: [left("a", { deletionTimestamp: since, finalizers: ["x/y"] })] },
    rule: "nextStep",
    actions: ["release a"],
    outcome: "waiting 5000",
  },
  {
    name: "others of its stage go although one is refused",
    given: { remaining: [left("a"), left("b")], refusals: new Map([refusal("delete", "a")]) },
    rule: "nextStep",
    actions: ["delete b"],
    outcome: "waiting 5000",
  },
  {
    name: "the finalizer stays while the account may not delete",
    given: { remaining: [left("a")], refusals: new Map([refusal("delete", "a")]) },
    rule: "refused",
    actions: [],
    outcome: "stalled 30000",
  },
  {
    name: "what may not be deleted is released where the plan says so",
    given: {
      remaining: [left("a")],
      refusals: new Map([refusal("delete", "a")]),
      spec: orphanIfUnauthorized,
    },
    rule: "nextStep",
    actions: ["warn Orphaned", "release a"],
    outcome: "waiting 5000",
  },
  {
    name: "a refused release is not answered by a deletion",
    given: {
      status: orphaning,
      remaining: [left("a")],
      refusals: new Map([refusal("release", "a")]),
    },
    rule: "refused",
    actions: [],
    outcome: "stalled 30000",
  },
];

describe("the deletion of a plan", () => {
  test.each(rows)("$name", ({ given, rule, actions, outcome }) => {
    const { rule: responded, verdict } = firstDecision(deletionRules, seen(given), now);
    expect(responded.name).toBe(rule);
    expect(verdict.actions.map(describeAction)).toEqual(actions);
    const { kind } = verdict.outcome;
    const delayMs = "retryAfterMs" in verdict.outcome ? verdict.outcome.retryAfterMs : undefined;
    expect(delayMs === undefined ? kind : `${kind} ${delayMs}`).toBe(outcome);
  });

  test("every rule answers in some row", () => {
    expect(new Set(rows.map(({ rule }) => rule))).toEqual(new Set(deletionRules.map(({ name }) => name)));
  });

  test.each([
    { reported: undefined, remaining: 8, want: 8 },
    { reported: 8, remaining: 5, want: 8 },
    { reported: 8, remaining: 4, want: 4 },
    { reported: 3, remaining: 8, want: 8 },
  ])(
    "of $remaining objects left, $told reported before, the status says $want",
    ({ reported, remaining, want }) => {
      const objects = Array.from({ length: remaining }, (_, index) => left(`c-${index}`));
      const status = { ...started, ...(reported === undefined ? {} : { deletion: { remaining: reported } }) };
      const { verdict } = firstDecision(deletionRules, seen({ status, remaining: objects }), now);
      expect(verdict.status).toMatchObject({ phase: "Deleting", deletion: { remaining: want } });
    },
  );
});
