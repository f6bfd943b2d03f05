import { planAnnotations } from "@quartermaster/api";
import { firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { JobView } from "../../../src/jobs/job-view.ts";
import { isRetryRequested, retryRequestOf } from "../../../src/retry/retry.ts";
import { rules } from "../../../src/rules.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen } from "../../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");
const began = { startedAt: "2026-01-01T00:00:00Z", stage: "s", attempt: 1 };

function requested(value: string): object {
  return { annotations: { [planAnnotations.retry]: value } };
}

const failedJob: JobView = {
  stage: "s",
  stageIndex: 0,
  spec: {
    name: "migrate",
    template: {},
    attempts: 1,
    timeoutSeconds: 600,
    onFailure: "Fail",
    keep: "OnFailure",
  },
  attempt: 1,
  planAttempt: 1,
  tries: 1,
  jobName: "p-s-migrate-1",
  state: "Failed",
  triesLeft: 0,
};

interface Row {
  readonly name: string;
  readonly retry?: object;
  readonly status?: object;
  readonly metadata?: object;
  readonly retryInMs?: number;
  /** Phase, attempt, handled request, and when the queue returns the plan. */
  readonly want: readonly [string, number, string | undefined, number | undefined];
}

const rows: readonly Row[] = [
  {
    name: "a failed job waits for a user, however long",
    status: { phase: "Failed" },
    want: ["Failed", 1, undefined, undefined],
  },
  {
    name: "a request that was there before the failure is not meant for it",
    status: { phase: "RunningJobs" },
    metadata: requested("1"),
    want: ["Failed", 1, "1", undefined],
  },
  {
    name: "a request makes one more attempt",
    status: { phase: "Failed" },
    metadata: requested("1"),
    want: ["Applying", 2, "1", 0],
  },
  {
    name: "the same request makes no second one",
    status: { phase: "Failed", lastHandledRetry: "1" },
    metadata: requested("1"),
    want: ["Failed", 1, "1", undefined],
  },
  {
    name: "another request does",
    status: { phase: "Failed", lastHandledRetry: "1" },
    metadata: requested("2"),
    want: ["Applying", 2, "2", 0],
  },
  {
    name: "maxAttempts allows another attempt after the back-off",
    retry: { maxAttempts: 2 },
    status: { phase: "Failed" },
    retryInMs: 7,
    want: ["Failed", 1, undefined, 7],
  },
  {
    name: "which then begins on its own",
    retry: { maxAttempts: 2 },
    status: { phase: "Failed" },
    want: ["Applying", 2, undefined, 0],
  },
  {
    name: "the last attempt waits for a user",
    retry: { maxAttempts: 2 },
    status: { phase: "Failed", attempt: 2 },
    want: ["Failed", 2, undefined, undefined],
  },
  {
    name: "who may request one beyond maxAttempts",
    retry: { maxAttempts: 2 },
    status: { phase: "Failed", attempt: 2 },
    metadata: requested("1"),
    want: ["Applying", 3, "1", 0],
  },
];

describe("a plan whose job failed", () => {
  test.each(rows)("$name", ({ retry = {}, status = {}, metadata = {}, retryInMs = 0, want }) => {
    const plan = aPlan("p", { spec: { retry }, status: { ...began, ...status }, metadata });
    const seen = aSeen(plan, { jobs: [failedJob], retryInMs });
    const { verdict } = firstDecision(rules, seen, now);
    const { outcome } = verdict;
    const report = verdict.status as NonNullable<typeof plan.status>;
    const afterMs = "retryAfterMs" in outcome ? outcome.retryAfterMs : undefined;
    expect([report.phase, report.attempt, report.lastHandledRetry, afterMs]).toEqual(want);
  });

  test("a request during a pause counts as heard and starts nothing", () => {
    const status = { ...began, phase: "Failed" };
    const plan = aPlan("p", { spec: { paused: true }, status, metadata: requested("1") });
    const { verdict } = firstDecision(rules, aSeen(plan, { jobs: [failedJob] }), now);
    expect(verdict.status).toMatchObject({ attempt: 1, lastHandledRetry: "1" });
  });
});

describe("the value of a request", () => {
  test.each([
    { name: "a time", value: "2026-01-01T00:00:00.000Z", want: "2026-01-01T00:00:00.000Z" },
    { name: "what cannot be printed", value: "a\u001B[31m b\n", want: "a_[31m_b_" },
    { name: "a very long one", value: "x".repeat(1_000), want: "x".repeat(64) },
    { name: "an empty one", value: "", want: "" },
  ])("$name is recorded so that it counts once", ({ value, want }) => {
    const plan = aPlan("p", { metadata: requested(value) });
    expect(retryRequestOf(plan)).toBe(want);
    expect(isRetryRequested(plan)).toBe(true);
    const heard = aPlan("p", { metadata: requested(value), status: { lastHandledRetry: want } });
    expect(isRetryRequested(heard)).toBe(false);
  });
});
