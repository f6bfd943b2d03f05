import { describe, expect, test } from "vitest";

import { memberView, type ViewFacts } from "../../../src/members/member-view.ts";
import { PlanMemory } from "../../../src/plan-memory.ts";
import { labelledObject } from "../../support/labelled-object.ts";
import { aPlan } from "../../support/plans.ts";
import { aView } from "../../support/seen.ts";

const plan = aPlan("p", { status: { startedAt: "2026-01-01T00:00:00Z", phase: "Applying", stage: "s" } });
const { member } = aView("c");
const live = labelledObject(plan, member.identity);

function factsOf(more: Partial<ViewFacts> = {}): ViewFacts {
  return {
    wallMs: 0,
    context: { plan, takesOverFrom: new Set(), living: new Map() },
    ownerLabels: { plan, revision: 1 },
    memory: new PlanMemory(),
    isPlanInstalled: false,
    started: new Set(),
    nowMs: 0,
    kindOf: () => undefined,
    find: () => live,
    blockedBy: () => undefined,
    hasOwnStatus: () => false,
    health: {},
    ...more,
  };
}

/** The member with a field that the live object does not have, so that it has drifted. */
const drifted = {
  ...member,
  manifest: { ...member.manifest, data: { a: "1" } },
};
const pathsOf = (given: typeof drifted, facts: ViewFacts): readonly string[] =>
  memberView(given, facts).drift.paths;

describe("drift that was judged before", () => {
  const ignoring = { ...drifted, lifecycle: { ...drifted.lifecycle, ignorePaths: ["/data/a"] } };

  test("is judged again under another lifecycle", () => {
    expect(pathsOf(drifted, factsOf())).toEqual(["/data/a"]);
    expect(pathsOf(ignoring, factsOf())).toEqual([]);
    expect(pathsOf(drifted, factsOf())).toEqual(["/data/a"]);
  });

  test("is judged again when the server turns out to drop a field, and again under other content", () => {
    const memory = new PlanMemory();
    const facts = factsOf({ memory });
    expect(pathsOf(drifted, facts)).toEqual(["/data/a"]);
    memory.dropped.set(member.key, { digest: drifted.digest, paths: ["/data/a"] });
    expect(pathsOf(drifted, facts)).toEqual([]);
    // What the server dropped of the former content says nothing about this one.
    expect(pathsOf({ ...drifted, digest: "another" }, facts)).toEqual(["/data/a"]);
  });

  test("is judged again when the plan becomes another in the line of those that replaced each other", () => {
    const paths = (revision: number): readonly string[] =>
      memberView(drifted, factsOf({ ownerLabels: { plan, revision } })).drift.paths;
    expect(paths(1)).toEqual(paths(2));
    expect(memberView(drifted, factsOf({ ownerLabels: { plan, revision: 2 } })).drift).not.toBe(
      memberView(drifted, factsOf({ ownerLabels: { plan, revision: 1 } })).drift,
    );
  });
});

describe("a Job of the plan that no longer exists", () => {
  const identity = { ...member.identity, apiVersion: "batch/v1", kind: "Job" };
  const job = (ttl?: number) => ({
    ...member,
    identity,
    manifest: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: member.manifest.metadata,
      spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
    },
  });

  test.each([
    { name: "had begun by the status", ttl: 60, more: { started: new Set([member.key]) }, isExpired: true },
    { name: "belongs to an installed plan", ttl: 60, more: { isPlanInstalled: true }, isExpired: true },
    { name: "has not begun", ttl: 60, more: {}, isExpired: false },
    {
      name: "had no time to live",
      ttl: undefined,
      more: { started: new Set([member.key]) },
      isExpired: false,
    },
  ])("and $name has expired: $isExpired", ({ ttl, more, isExpired }) => {
    const view = memberView(job(ttl), factsOf({ find: () => undefined, ...more }));
    expect({ isExpired: view.isExpired ?? false, isReady: view.state === "Ready" }).toEqual({
      isExpired,
      isReady: isExpired,
    });
  });

  test("has expired when it was seen at work in this life of the operator", () => {
    const memory = new PlanMemory();
    memory.startedJobs.add(member.key);
    expect(memberView(job(60), factsOf({ memory, find: () => undefined })).isExpired).toBe(true);
  });
});

describe("an object of others that an approval limits", () => {
  const theirs = { ...live, metadata: { name: "c", namespace: "ns", uid: "u-theirs" } };

  test.each([
    { name: "no approval", adoptable: undefined, isUnapproved: false },
    { name: "one that names it", adoptable: ["u-theirs"], isUnapproved: false },
    { name: "one that names it among four", adoptable: ["u1", "u2", "u-theirs", "u4"], isUnapproved: false },
    { name: "one that names others", adoptable: ["u1", "u2"], isUnapproved: true },
    { name: "one that names none", adoptable: [], isUnapproved: true },
  ])("is unapproved under $name: $isUnapproved", ({ adoptable, isUnapproved }) => {
    const facts = factsOf({
      find: () => theirs,
      ...(adoptable === undefined ? {} : { adoptable: new Set(adoptable) }),
    });
    expect(memberView(member, facts).isUnapproved ?? false).toBe(isUnapproved);
  });
});
