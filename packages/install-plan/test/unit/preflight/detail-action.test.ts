import { expect, test } from "vitest";

import { planReport } from "../../../src/report/plan-report.ts";
import type { MemberView } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView } from "../../support/seen.ts";

const installed = { startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:00Z" };
const drift = { paths: ["/data/a"], additions: [], isPositionLost: false };
const { lifecycle } = aView("c").member;

function having(more: Partial<MemberView>, knobs: Partial<typeof lifecycle> = {}): MemberView {
  const view = aView("c", more);
  return { ...view, member: { ...view.member, lifecycle: { ...lifecycle, ...knobs } } };
}

test.for<{ readonly name: string; readonly view: MemberView; readonly want: string }>([
  {
    name: "missing, to be made again",
    view: having({ ownership: { kind: "absent" }, state: "Missing" }),
    want: "create",
  },
  {
    name: "missing, to be left so",
    view: having({ ownership: { kind: "absent" }, state: "Missing" }, { recreate: false }),
    want: "noop",
  },
  {
    name: "drifted, to be restored",
    view: having({ state: "Drifted", drift: { ...aView("c").drift, ...drift } }),
    want: "update",
  },
  {
    name: "drifted, to be left so",
    view: having({ state: "Drifted", drift: { ...aView("c").drift, ...drift } }, { revert: "Off" }),
    want: "noop",
  },
  { name: "failed on its own", view: having({ state: "Failed" }), want: "noop" },
  {
    name: "taken by another plan",
    view: having(
      { ownership: { kind: "ownedByOther", owner: "plan x/y" }, state: "Conflict" },
      { adoption: "Always" },
    ),
    want: "conflict",
  },
])("the details of an object say what the plan does about it: $name", ({ view, want }) => {
  const seen = aSeen(aPlan("p", { status: installed }), { members: [view] });
  const { status } = planReport(seen, new Date(0), { phase: "Installed", message: "" });
  expect(status.details?.[0]?.action).toBe(want);
});
