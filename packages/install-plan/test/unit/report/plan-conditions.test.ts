import { describe, expect, test } from "vitest";

import { issuesOf } from "../../../src/preflight/preflight.ts";
import { planConditions } from "../../../src/report/plan-conditions.ts";
import type { Seen } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView, clear } from "../../support/seen.ts";

const started = aPlan("p", { status: { startedAt: "2026-01-01T00:00:00Z" } });
const installed = aPlan("p", {
  status: { startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:00Z" },
});
const drift = { paths: ["/data/a"], additions: [], manager: "kubectl-edit" };
const failure = {
  action: "apply",
  reason: "Forbidden",
  message: "may not",
  count: 1,
  notBeforeMs: 0,
  triedAtMs: 0,
} as const;
const missing = { verb: "create", group: "", resource: "secrets", namespace: "ns" };
const { replacement } = aSeen(started);
const successor = { name: "b", uid: "uid-b", isDone: false };

interface Row {
  readonly name: string;
  readonly given: Seen;
  /** `Type=Status Reason`. */
  readonly want: string;
}

const rows: readonly Row[] = [
  { name: "nothing was checked yet", given: aSeen(aPlan("p")), want: "Validated=Unknown NotChecked" },
  { name: "nothing was checked yet", given: aSeen(aPlan("p")), want: "Authorized=Unknown NotChecked" },
  {
    name: "everything was checked",
    given: aSeen(aPlan("p"), { preflight: clear }),
    want: "Validated=True Validated",
  },
  {
    name: "everything was checked",
    given: aSeen(aPlan("p"), { preflight: clear }),
    want: "Authorized=True AuthorUnknown",
  },
  {
    name: "the server is undecided",
    given: aSeen(aPlan("p"), { preflight: { ...clear, undecided: ["busy"] } }),
    want: "Validated=Unknown NotChecked",
  },
  {
    name: "a permission is missing",
    given: aSeen(aPlan("p"), { preflight: { ...clear, missingPermissions: [missing] } }),
    want: "Authorized=False PermissionsMissing",
  },
  { name: "it has started", given: aSeen(started), want: "Validated=True Validated" },
  { name: "it has started", given: aSeen(started), want: "Authorized=True AuthorUnknown" },
  {
    name: "a write was forbidden",
    given: aSeen(started, { members: [aView("c", { failure: { ...failure, kind: "forbidden" } })] }),
    want: "Authorized=False Forbidden",
  },
  {
    name: "a write was rejected",
    given: aSeen(started, { members: [aView("c", { failure: { ...failure, kind: "rejected" } })] }),
    want: "Authorized=True AuthorUnknown",
  },
  { name: "all objects are its own", given: aSeen(started), want: "Applied=True Applied" },
  { name: "it has no objects", given: aSeen(started, { members: [] }), want: "Applied=True Applied" },
  {
    name: "nothing was written yet",
    given: aSeen(aPlan("p"), { members: [] }),
    want: "Applied=False Applying",
  },
  {
    name: "a Job has had its time",
    given: aSeen(started, { members: [aView("c", { ownership: { kind: "absent" }, isExpired: true })] }),
    want: "Applied=True Applied",
  },
  {
    name: "an object of an installed plan is missing",
    given: aSeen(installed, { members: [aView("c", { ownership: { kind: "absent" } })] }),
    want: "Applied=False Missing",
  },
  {
    name: "a Secret may not be read",
    given: aSeen(started, {
      content: {
        ...aSeen(started).content,
        unresolved: [{ stage: "s", index: 0, name: "m", reason: "PermissionsMissing", message: "no" }],
      },
    }),
    want: "Authorized=False PermissionsMissing",
  },
  {
    name: "the plan that replaced it no longer exists",
    given: aSeen(
      aPlan("p", {
        status: { phase: "Superseded", replacedBy: { name: "b", uid: "uid-b", state: "Done" } },
      }),
    ),
    want: "Superseded=True SuccessorGone",
  },
  {
    name: "another plan takes over before it has written anything",
    given: aSeen(aPlan("p"), { replacement: { ...replacement, successor } }),
    want: "Superseded=True Superseded",
  },
  {
    name: "an object is missing",
    given: aSeen(started, { members: [aView("c", { ownership: { kind: "absent" } })] }),
    want: "Applied=False Applying",
  },
  {
    name: "an object has drifted",
    given: aSeen(started, { members: [aView("c", { drift })] }),
    want: "Drifted=True Drifted",
  },
  {
    name: "the object of another has drifted",
    given: aSeen(started, { members: [aView("c", { drift, ownership: { kind: "unowned" } })] }),
    want: "Drifted=False AsApplied",
  },
  {
    name: "another plan is taking over",
    given: aSeen(started, { replacement: { ...replacement, successor } }),
    want: "Superseded=False Replacing",
  },
  {
    name: "another plan has taken over",
    given: aSeen(started, { replacement: { ...replacement, successor: { ...successor, isDone: true } } }),
    want: "Superseded=True Superseded",
  },
  {
    name: "another plan has taken over",
    given: aSeen(started, { replacement: { ...replacement, successor: { ...successor, isDone: true } } }),
    want: "Applied=False Superseded",
  },
];

describe("the conditions of a plan", () => {
  test.each(rows)("$name: $want", ({ given, want }) => {
    const [type] = want.split("=");
    const condition = planConditions(given).find((each) => each.type === type);
    expect(`${condition?.type}=${condition?.status} ${condition?.reason}`).toBe(want);
  });
});

describe("issues of a plan", () => {
  const issues = [{ reason: "NamespaceMissing", message: "no namespace x" }] as const;
  const { content } = aSeen(started);

  test.each([
    { name: "before permissions were reviewed", given: {}, want: 0 },
    {
      name: "without a permission",
      given: { preflight: { ...clear, missingPermissions: [missing] } },
      want: 0,
    },
    { name: "with every permission", given: { preflight: clear }, want: 1 },
  ])("name a namespace that is missing only with every permission: $name", ({ given, want }) => {
    expect(issuesOf(aSeen(started, { content: { ...content, issues }, ...given }))).toHaveLength(want);
  });
});
