import type { InstallPlan } from "@quartermaster/api";
import { firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { Member } from "../../../src/model/member.ts";
import { rules } from "../../../src/rules.ts";
import type { MemberView, Seen } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView } from "../../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");
const installed = aPlan("p", {
  status: { startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:00Z", phase: "Installed" },
});
const noKind = { reason: "WaitingForKind", message: "no kind" };
const drift = { paths: ["/data/a"], additions: [] };
const absent = { ownership: { kind: "absent" }, state: "Missing" } as const;
const forged = { ownership: { kind: "unowned", isForged: true }, state: "Conflict" } as const;

function aMemberView(more: Partial<MemberView>, lifecycle: Partial<Member["lifecycle"]> = {}): MemberView {
  const view = aView("c", more);
  return { ...view, member: { ...view.member, lifecycle: { ...view.member.lifecycle, ...lifecycle } } };
}

function actionsFor(given: Partial<Seen>): readonly string[] {
  const { verdict } = firstDecision(rules, aSeen(installed, given), now);
  return verdict.actions.map(({ kind }) => kind);
}

describe("whether an installed plan writes an object", () => {
  const drifted = { drift, state: "Drifted" } as const;
  const leaving = { ...aView("c").live, metadata: { name: "c", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const rows: readonly { readonly name: string; readonly view: MemberView; readonly isWritten: boolean }[] = [
    { name: "it is as applied", view: aMemberView({}), isWritten: false },
    { name: "it has drifted", view: aMemberView(drifted), isWritten: true },
    { name: "revert: Off", view: aMemberView(drifted, { revert: "Off" }), isWritten: false },
    { name: "revert: Strict", view: aMemberView(drifted, { revert: "Strict" }), isWritten: true },
    {
      name: "an annotation keeps it",
      view: aMemberView({ ...drifted, exception: { kind: "active" } }),
      isWritten: false,
    },
    {
      name: "an annotation that cannot be read does not",
      view: aMemberView({ ...drifted, exception: { kind: "invalid", message: "annotation" } }),
      isWritten: true,
    },
    { name: "it was deleted", view: aMemberView(absent), isWritten: true },
    { name: "recreate: false", view: aMemberView(absent, { recreate: false }), isWritten: false },
    {
      name: "recreate: false does not keep drift",
      view: aMemberView(drifted, { recreate: false }),
      isWritten: true,
    },
    {
      name: "revert: Off does not keep it from being recreated",
      view: aMemberView(absent, { revert: "Off" }),
      isWritten: true,
    },
    {
      name: "a Job that has had its time",
      view: aMemberView({ ...absent, state: "Ready", isExpired: true }),
      isWritten: false,
    },
    { name: "adoption: Never, forged labels", view: aMemberView(forged), isWritten: false },
    {
      name: "adoption: IfUnowned, forged labels",
      view: aMemberView(forged, { adoption: "IfUnowned" }),
      isWritten: true,
    },
    {
      name: "adoption: IfUnowned, another client's object",
      view: aMemberView({ ownership: { kind: "unowned" }, state: "Conflict" }, { adoption: "IfUnowned" }),
      isWritten: false,
    },
    {
      name: "adoption: Always, the object of another plan",
      view: aMemberView(
        { ownership: { kind: "ownedByOther", owner: "plan ns/b" }, state: "Conflict" },
        { adoption: "Always" },
      ),
      isWritten: false,
    },
    {
      name: "it is being deleted",
      view: aMemberView({ ...drifted, live: leaving as never }),
      isWritten: false,
    },
    { name: "it is blocked", view: aMemberView({ ...drifted, blockedBy: noKind }), isWritten: false },
    {
      name: "a revert conflict pauses",
      view: aMemberView({ ...drifted, revertConflict: { manager: "x", notBeforeMs: 101 } }),
      isWritten: false,
    },
    {
      name: "the pause of a revert conflict is over",
      view: aMemberView({ ...drifted, revertConflict: { manager: "x", notBeforeMs: 100 } }),
      isWritten: true,
    },
  ];

  test.each(rows)("$name: $isWritten", ({ view, isWritten }) => {
    expect(actionsFor({ members: [view], nowMs: 100 })).toEqual(isWritten ? ["apply"] : []);
  });

  test("nothing is written without the account that was vouched for", () => {
    const members = [aMemberView(drifted)];
    expect(actionsFor({ members, account: { kind: "missing" } })).toEqual([]);
    expect(actionsFor({ members, account: { kind: "replaced", uid: "other" } })).toEqual([]);
  });

  test("a paused plan writes nothing", () => {
    const plan = { ...installed, spec: { ...installed.spec, paused: true } };
    expect(actionsFor({ plan, members: [aMemberView(drifted)] })).toEqual([]);
  });
});

describe("plans beyond historyLimit", () => {
  const past = (name: string): InstallPlan => aPlan(name, { status: { phase: "Superseded" } });
  const takeover = { subject: "eve", missing: [], forgettable: [past("a")], kept: [] };

  test("are deleted", () => {
    expect(actionsFor({ takeover })).toEqual(["forgetPlan"]);
  });

  test("stay, and that is reported, where the author may not delete them", () => {
    expect(actionsFor({ takeover: { ...takeover, forgettable: [], kept: [past("b")] } })).toEqual(["warn"]);
  });

  test("stay without the account that was vouched for", () => {
    expect(actionsFor({ takeover, account: { kind: "missing" } })).toEqual([]);
  });
});
