import { describe, expect, test } from "vitest";

import { decideLane } from "../../../src/lane.ts";
import { isInsideWindow, windowIssues } from "../../../src/maintenance/is-inside-window.ts";
import type { MaintenanceWindow } from "../../../src/model/maintenance-window.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import { aRoll, managersAndData } from "../../support/a-roll.ts";
import { aPod } from "../../support/a-seen.ts";

const hourMs = 3_600_000;
const night = (changes: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  cron: "0 2 * * *",
  durationMs: 2 * hourMs,
  timeZone: "UTC",
  ...changes,
});
const berlin = night({ timeZone: "Europe/Berlin" });

describe("maintenance windows", () => {
  test.for<{
    readonly name: string;
    readonly windows: readonly MaintenanceWindow[];
    readonly now: string;
    readonly want: boolean;
  }>([
    { name: "without a window, always", windows: [], now: "2026-11-17T12:00:00Z", want: true },
    { name: "before it opens", windows: [night()], now: "2026-11-17T01:59:59Z", want: false },
    { name: "as it opens", windows: [night()], now: "2026-11-17T02:00:00Z", want: true },
    { name: "before it closes", windows: [night()], now: "2026-11-17T03:59:59Z", want: true },
    { name: "as it closes", windows: [night()], now: "2026-11-17T04:00:00Z", want: false },
    {
      name: "over midnight",
      windows: [night({ cron: "0 23 * * *" })],
      now: "2026-11-18T00:30:00Z",
      want: true,
    },
    {
      name: "over the end of a year",
      windows: [night({ cron: "0 23 31 12 *" })],
      now: "2027-01-01T00:30:00Z",
      want: true,
    },
    {
      name: "any of several",
      windows: [night(), night({ cron: "0 12 * * *" })],
      now: "2026-11-17T13:00:00Z",
      want: true,
    },
    {
      name: "Saturdays: on one",
      windows: [night({ cron: "0 2 * * sat" })],
      now: "2026-11-21T03:00:00Z",
      want: true,
    },
    {
      name: "Saturdays: on a Sunday",
      windows: [night({ cron: "0 2 * * sat" })],
      now: "2026-11-22T03:00:00Z",
      want: false,
    },
    {
      name: "Sunday is 7, too",
      windows: [night({ cron: "0 2 * * 7" })],
      now: "2026-11-22T03:00:00Z",
      want: true,
    },
    {
      name: "a day of the month or of the week, where both are given",
      windows: [night({ cron: "0 2 1 * sat" })],
      now: "2026-11-21T03:00:00Z",
      want: true,
    },
    {
      name: "steps and ranges",
      windows: [night({ cron: "*/30 8-10/2 * * mon-fri", durationMs: 5 * 60_000 })],
      now: "2026-11-17T10:34:00Z",
      want: true,
    },
    {
      name: "between the steps",
      windows: [night({ cron: "*/30 8-10/2 * * mon-fri", durationMs: 5 * 60_000 })],
      now: "2026-11-17T09:34:00Z",
      want: false,
    },
    {
      name: "open for days",
      windows: [night({ cron: "0 0 * * sat", durationMs: 48 * hourMs })],
      now: "2026-11-22T23:59:00Z",
      want: true,
    },
    {
      name: "Berlin in winter: two hours later than UTC says",
      windows: [berlin],
      now: "2026-11-17T01:00:00Z",
      want: true,
    },
    { name: "Berlin in winter, closed", windows: [berlin], now: "2026-11-17T03:00:00Z", want: false },
    { name: "Berlin in summer", windows: [berlin], now: "2026-07-17T00:00:00Z", want: true },
    { name: "Berlin in summer, closed", windows: [berlin], now: "2026-07-17T02:00:00Z", want: false },
    // On 2026-03-29 clocks go from 02:00 to 03:00 at 01:00 UTC: what begins at 02:30 begins at 03:30.
    {
      name: "a beginning that clocks jump over comes right after",
      windows: [night({ cron: "30 2 * * *", durationMs: hourMs, timeZone: "Europe/Berlin" })],
      now: "2026-03-29T01:45:00Z",
      want: true,
    },
    {
      name: "and not before",
      windows: [night({ cron: "30 2 * * *", durationMs: hourMs, timeZone: "Europe/Berlin" })],
      now: "2026-03-29T01:15:00Z",
      want: false,
    },
    // On 2026-10-25 clocks show 02:00 to 03:00 twice, from 00:00 and from 01:00 UTC.
    {
      name: "a time that clocks show twice counts once: the first time",
      windows: [night({ cron: "30 2 * * *", durationMs: hourMs / 2, timeZone: "Europe/Berlin" })],
      now: "2026-10-25T00:45:00Z",
      want: true,
    },
    {
      name: "and not the second time",
      windows: [night({ cron: "30 2 * * *", durationMs: hourMs / 2, timeZone: "Europe/Berlin" })],
      now: "2026-10-25T01:45:00Z",
      want: false,
    },
    {
      name: "a zone a day ahead",
      windows: [night({ cron: "0 0 18 11 *", timeZone: "Pacific/Kiritimati" })],
      now: "2026-11-17T11:00:00Z",
      want: true,
    },
    {
      name: "a zone with an odd offset",
      windows: [night({ cron: "0 2 * * *", durationMs: 60_000, timeZone: "Asia/Kathmandu" })],
      now: "2026-11-16T20:15:30Z",
      want: true,
    },
    {
      name: "one that cannot be read is never open",
      windows: [night({ cron: "never" }), night({ timeZone: "Mars/Base" })],
      now: "2026-11-17T03:00:00Z",
      want: false,
    },
  ])("[search/SC-56] $name", ({ windows, now, want }) => {
    expect(isInsideWindow(windows, new Date(now))).toBe(want);
  });

  test("as many windows as a spec may have, each with a time for every minute, take no time to speak of", () => {
    const never = night({ cron: "0-59 0-23 1-31 2 *", durationMs: 60_000, timeZone: "America/New_York" });
    const all = Array.from({ length: 16 }, () => never);
    isInsideWindow(all, new Date("2026-03-01T05:00:00Z"));
    const started = performance.now();
    for (let at = 0; at < 10; at += 1)
      expect(isInsideWindow(all, new Date(Date.parse("2026-03-01T05:01:00Z") + at))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("what cannot be read is reported, each field with what to write", () => {
    const windows = [
      night(),
      night({ cron: "0 2 * *" }),
      night({ cron: "60 2 * * *" }),
      night({ cron: "0 2 * * mon-" }),
      night({ cron: "0 2 30-1 * *" }),
      night({ cron: "0 2 * * *; rm" }),
      night({ timeZone: "Mars/Base" }),
      night({ durationMs: 1_000 }),
      night({ durationMs: 169 * hourMs }),
    ];
    expect(windowIssues({ windows }).map(({ path }) => path.replace("spec.operations.windows", ""))).toEqual([
      "[1].cron",
      "[2].cron",
      "[3].cron",
      "[4].cron",
      "[5].cron",
      "[6].timeZone",
      "[7].duration",
      "[8].duration",
    ]);
  });
});

describe("nodes outside of a window", () => {
  const closed = { ...managersAndData(3, 2), windows: [night()] };
  const [noon, inside] = [new Date("2026-11-17T12:00:00Z"), new Date("2026-11-17T03:00:00Z")];

  test.for<readonly [string, Parameters<typeof aRoll>[0]]>([
    ["a restart", { outdated: ["logs-data-1"] }],
    ["a removal", { slots: { data: 3 } }],
  ])("[search/SC-56] %s waits for the window", ([, changes]) => {
    const seen = aRoll({ cluster: closed, ...changes });
    expect(decideLane(nodesLane, seen, noon)).toMatchObject({
      rule: "outsideWindow",
      actions: [],
      outcome: { kind: "waiting", why: { reason: "OutsideWindow" } },
    });
    expect(decideLane(nodesLane, seen, noon).intent).toBeUndefined();
    expect(decideLane(nodesLane, seen, inside).intent?.operation).toBeDefined();
    const requests = { ...closed.requests, skipChecks: ["insideWindow"] };
    const skipping = aRoll({ cluster: { ...closed, requests }, ...changes });
    expect(decideLane(nodesLane, skipping, noon).intent?.operation).toBeDefined();
  });

  test("[search/SC-56] a broken pod is repaired at any time", () => {
    const seen = aRoll({ cluster: closed, outdated: ["logs-data-1"], down: ["logs-data-1"] });
    const pods = seen.pods.map((pod) =>
      pod.name === "logs-data-1" ? aPod(pod.name, { ...pod, restarts: 5, isReady: false }) : pod,
    );
    const { rule, actions } = decideLane(nodesLane, { ...seen, pods }, noon);
    expect(rule).toBe("repairBroken");
    expect(actions).toContainEqual({ kind: "deletePod", node: "logs-data-1", uid: "uid-logs-data-1" });
  });

  test("[search/SC-56] a restart that has not taken its node away yet is withdrawn when the window closes", () => {
    const operation = {
      id: "op",
      type: "Restart",
      pool: "data",
      node: "logs-data-1",
      podUid: "uid-logs-data-1",
      cause: "newer",
      step: "Prepare",
      startedAt: "2026-11-17T03:59:00Z",
    } as const;
    const seen = aRoll({ cluster: closed, outdated: ["logs-data-1"], status: { operation } });
    const actions = decideLane(nodesLane, seen, noon).actions.map((action) => action.kind);
    expect(actions).not.toContain("deletePod");
    expect(actions).not.toContain("freezeAllocation");
    expect(decideLane(nodesLane, seen, inside).actions.map((action) => action.kind)).toContain(
      "freezeAllocation",
    );
  });

  test("a cluster that is as declared says nothing of windows", () => {
    expect(decideLane(nodesLane, aRoll({ cluster: closed }), noon).rule).toBe("complete");
  });
});
