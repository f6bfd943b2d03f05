import { describe, expect, test } from "vitest";

import { WakeIndex } from "../../../src/wake/wake-index.ts";

describe("plans that wait for a change in the cluster", () => {
  test("a change finds those who wait for it, and no others", () => {
    const wakeIndex = new WakeIndex();
    wakeIndex.subscribe({ namespace: "a", name: "one" }, ["permissions"]);
    wakeIndex.subscribe({ namespace: "a", name: "two" }, ["kinds", "permissions"]);
    wakeIndex.subscribe({ namespace: "a", name: "one" }, ["kinds"]);
    expect(wakeIndex.notify("permissions", 0)).toEqual([{ namespace: "a", name: "two" }]);
    expect(wakeIndex.notify("namespaces", 0)).toEqual([]);
  });

  test.each([
    { name: "a few plans of the namespace are woken together", count: 20, want: 0 },
    { name: "a hundred are woken together a second later", count: 100, want: 1_000 },
    { name: "any number is woken within half a minute", count: 10_000, want: 30_000 },
  ])("$name", ({ count, want }) => {
    const wakeIndex = new WakeIndex();
    wakeIndex.subscribe({ namespace: "elsewhere", name: "p0" }, ["plans"]);
    wakeIndex.subscribe({ namespace: "a", name: "changed" }, ["plans"]);
    for (let at = 0; at < count; at += 1) wakeIndex.subscribe({ namespace: "a", name: `p${at}` }, ["plans"]);
    const woken = wakeIndex.notifyNamespace("plans", { namespace: "a", name: "changed" }, 0);
    expect(woken).toHaveLength(count);
    expect(woken[0]).toEqual({ namespace: "a", name: "p0", afterMs: want });
  });

  test.each([
    {
      name: "nothing has changed recently before anything happened",
      changedAtMs: undefined,
      nowMs: 0,
      want: [],
    },
    {
      name: "what has just happened may not show yet",
      changedAtMs: 1_000,
      nowMs: 1_500,
      want: ["permissions"],
    },
    { name: "what happened a while ago shows", changedAtMs: 1_000, nowMs: 4_000, want: [] },
  ])("$name", ({ changedAtMs, nowMs, want }) => {
    const wakeIndex = new WakeIndex();
    if (changedAtMs !== undefined) wakeIndex.notify("permissions", changedAtMs);
    expect(wakeIndex.recentlyChanged(nowMs)).toEqual(want);
  });
});
