import type { Client, KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  explainUnready,
  isObservationDue,
  nextObservationMs,
  type PodObservation,
  selectorOf,
} from "../../../src/members/pod-observations.ts";
import { PlanMemory } from "../../../src/plan-memory.ts";
import type { MemberView } from "../../../src/seen.ts";
import { aView } from "../../support/seen.ts";

const live = (resourceVersion: string, spec: object = {}): KubeObject =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", resourceVersion },
    spec,
  }) as KubeObject;
const observation = (atMs: number): PodObservation => ({ atMs, sinceMs: 0, resourceVersion: "1" });

describe("pods are looked at", () => {
  test.each([
    { name: "at once", last: undefined, version: "1", nowMs: 0, want: true },
    { name: "not again within a second", last: observation(0), version: "1", nowMs: 999, want: false },
    { name: "again after a second", last: observation(0), version: "1", nowMs: 1_000, want: true },
    {
      name: "less often the longer it lasts",
      last: observation(20_000),
      version: "1",
      nowMs: 21_999,
      want: false,
    },
    {
      name: "[first-use/10] after a tenth of the time that has passed",
      last: observation(20_000),
      version: "1",
      nowMs: 22_000,
      want: true,
    },
    { name: "at least once a minute", last: observation(500_000), version: "1", nowMs: 560_000, want: true },
    {
      name: "no more after ten minutes",
      last: observation(600_000),
      version: "1",
      nowMs: 9_999_999,
      want: false,
    },
    {
      name: "also then when the workload has changed",
      last: observation(600_000),
      version: "2",
      nowMs: 601_000,
      want: true,
    },
    { name: "but not immediately", last: observation(600_000), version: "2", nowMs: 600_999, want: false },
  ])("$name", ({ last, version, nowMs, want }) => {
    expect(isObservationDue(last, live(version), nowMs)).toBe(want);
  });

  test("fewer than 60 times for a workload that never changes", () => {
    let last = observation(0);
    let observations = 1;
    for (;;) {
      const afterMs = nextObservationMs(last, live("1"));
      if (afterMs === undefined) break;
      last = { ...last, atMs: last.atMs + afterMs };
      observations += 1;
    }
    expect(observations).toBeLessThan(60);
  });
});

test.each([
  { name: "labels", selector: { matchLabels: { app: "web", tier: "front" } }, want: "app=web,tier=front" },
  {
    name: "expressions",
    selector: {
      matchExpressions: [
        { key: "a", operator: "In", values: ["x", "y"] },
        { key: "b", operator: "NotIn", values: ["z"] },
        { key: "c", operator: "Exists" },
        { key: "d", operator: "DoesNotExist" },
      ],
    },
    want: "a in (x,y),b notin (z),c,!d",
  },
  { name: "everything", selector: {}, want: undefined },
  {
    name: "nothing that we know",
    selector: { matchExpressions: [{ key: "a", operator: "Gt" }] },
    want: undefined,
  },
])("a selector of $name as a query", ({ selector, want }) => {
  expect(selectorOf(live("1", { selector }))).toBe(want);
});

describe("what is read", () => {
  const selector = { matchLabels: { app: "web" } };
  const workload = (name: string, more: Partial<MemberView>): MemberView => {
    const view = aView(name, { live: live("1", { selector }), ...more });
    const identity = { ...view.member.identity, apiVersion: "apps/v1", kind: "Deployment" };
    return { ...view, member: { ...view.member, identity } };
  };
  const health = (state: "InProgress" | "Ready"): Pick<MemberView, "health"> => ({
    health: { state, reason: "Any", message: "" },
  });
  const unready = Array.from({ length: 7 }, (_, index) => workload(`w${index}`, health("InProgress")));

  async function reads(views: readonly MemberView[], memory = new PlanMemory()): Promise<number> {
    let count = 0;
    const listPage = async (): Promise<unknown> => {
      count += 1;
      return await Promise.resolve({ items: [] });
    };
    const account = { listPage } as unknown as Client;
    const view = (): MemberView => aView("again");
    await explainUnready(views, { memory, nowMs: 0, account, view });
    return count;
  }

  test.each([
    { name: "nothing for a workload that is ready", views: [workload("w", health("Ready"))], want: 0 },
    { name: "nothing for other kinds", views: [aView("c", health("InProgress"))], want: 0 },
    {
      name: "nothing for objects of others",
      views: [workload("w", { ...health("InProgress"), ownership: { kind: "unowned" } })],
      want: 0,
    },
    { name: "pods of a workload that is not ready", views: unready.slice(0, 1), want: 1 },
    { name: "pods of five workloads at a time", views: unready, want: 5 },
  ])("$name", async ({ views, want }) => {
    // The pods' namespace is that of the workload.
    const placed = views.map((view) => ({ ...view, live: placedIn("ns", view.live) }));
    expect(await reads(placed)).toBe(want);
  });

  test("what was found is dropped when the workload is ready", async () => {
    const memory = new PlanMemory();
    await reads(unready.slice(0, 1), memory);
    expect(memory.podObservations.size).toBe(1);
    await reads([workload("w0", health("Ready"))], memory);
    expect(memory.podObservations.size).toBe(0);
  });
});

function placedIn(namespace: string, object: KubeObject | undefined): KubeObject {
  const found = object ?? live("1");
  return { ...found, metadata: { ...found.metadata, namespace } };
}
