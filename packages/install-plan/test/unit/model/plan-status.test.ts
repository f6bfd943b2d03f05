import { describe, expect, test } from "vitest";

import {
  deletionLastedMs,
  hasForgedProgress,
  hasStarted,
  isInstalled,
  stageLastedMs,
} from "../../../src/model/plan-status.ts";
import { aPlan } from "../../support/plans.ts";

const stageStartedAt = "2026-01-01T00:00:00Z";
const beganMs = Date.parse(stageStartedAt);

test.each([
  { name: "a stage that began this second", timeoutSeconds: 600, nowMs: beganMs + 900, lastedMs: 0 },
  { name: "one that lasts a minute", timeoutSeconds: 600, nowMs: beganMs + 61_000, lastedMs: 60_000 },
  {
    name: "one that is late: ten seconds are left",
    timeoutSeconds: 600,
    nowMs: beganMs + 3_600_000,
    lastedMs: 590_000,
  },
  {
    name: "a short one that is late: half of it is left",
    timeoutSeconds: 4,
    nowMs: beganMs + 3_600_000,
    lastedMs: 2_000,
  },
  { name: "one that begins in the future", timeoutSeconds: 600, nowMs: beganMs - 3_600_000, lastedMs: 0 },
])("$name", ({ timeoutSeconds, nowMs, lastedMs }) => {
  const plan = aPlan("p", {
    spec: { stages: [{ name: "s", timeoutSeconds, resources: [] }] },
    status: { startedAt: stageStartedAt, stage: "s", stageStartedAt },
  });
  expect(stageLastedMs(plan, nowMs)).toBe(lastedMs);
});

test("a deletion continues where an earlier process left it, with some time to spare", () => {
  const metadata = { deletionTimestamp: stageStartedAt };
  const given = (timeoutSeconds: number) => aPlan("p", { metadata, spec: { deletion: { timeoutSeconds } } });
  expect(deletionLastedMs(given(600), beganMs + 61_000)).toBe(60_000);
  expect(deletionLastedMs(given(600), beganMs + 3_600_000)).toBe(590_000);
  expect(deletionLastedMs(given(0), beganMs + 3_600_000)).toBe(0);
});

describe("whether a plan has started", () => {
  const at = "2026-01-01T00:00:00Z";
  test.each([
    { name: "nothing says so", spec: {}, status: {}, want: [false, false, false] },
    { name: "its status says so", spec: {}, status: { startedAt: at }, want: [true, false, false] },
    {
      name: "and that it ended",
      spec: {},
      status: { startedAt: at, finishedAt: at },
      want: [true, true, false],
    },
    { name: "an end without a start", spec: {}, status: { finishedAt: at }, want: [false, false, true] },
    { name: "a stage without a start", spec: {}, status: { stage: "s" }, want: [false, false, true] },
    {
      name: "a start without the approval that it needs",
      spec: { approval: "Manual" },
      status: { startedAt: at, finishedAt: at },
      want: [false, false, true],
    },
    {
      name: "a start with the approval",
      spec: { approval: "Manual", approved: true },
      status: { startedAt: at },
      want: [true, false, false],
    },
  ])("$name", ({ spec, status, want }) => {
    const plan = aPlan("p", { spec, status });
    expect([hasStarted(plan), isInstalled(plan), hasForgedProgress(plan)]).toEqual(want);
  });
});
