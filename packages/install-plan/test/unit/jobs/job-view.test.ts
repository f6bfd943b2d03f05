import type { Job } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { endedJobs, jobRecord } from "../../../src/jobs/ended-jobs.ts";
import { jobViews } from "../../../src/jobs/job-view.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen } from "../../support/seen.ts";

const at = "2026-01-01T00:00:00Z";
const record = { stage: "s", name: "migrate", jobName: "any", attempt: 1, state: "Succeeded" };

function aLiveJob(type?: string): Job {
  const conditions = type === undefined ? [] : [{ type, status: "True" }];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "j" },
    status: { conditions },
  };
}

describe("a job that the status calls succeeded", () => {
  test.each([
    {
      name: "holds when its Job no longer exists",
      status: { startedAt: at },
      live: undefined,
      want: "Succeeded",
    },
    {
      name: "holds when its Job has completed",
      status: { startedAt: at },
      live: aLiveJob("Complete"),
      want: "Succeeded",
    },
    {
      name: "does not hold while its Job runs",
      status: { startedAt: at },
      live: aLiveJob(),
      want: "Running",
    },
    {
      name: "does not hold when its Job failed",
      status: { startedAt: at },
      live: aLiveJob("Failed"),
      want: "Failed",
    },
    { name: "does not hold before the plan starts", status: {}, live: undefined, want: "Waiting" },
  ])("$name", ({ status, live, want }) => {
    const template = { template: {} };
    const spec = { stages: [{ name: "s", resources: [], jobs: [{ name: "migrate", template }] }] };
    const plan = aPlan("p", { spec, status: { ...status, jobs: [record] } });
    const views = jobViews({ plan, planAttempt: 1, find: () => live, elapsedMs: () => 0 });
    expect(views.map(({ state }) => state)).toEqual([want]);
  });
});

describe("the tries of a job", () => {
  const rows = [
    {
      name: "a first failure is followed by another",
      record: ["Failed", 1],
      attempt: 1,
      want: ["Waiting", 2, 1],
    },
    { name: "one more is left", record: ["TimedOut", 2], attempt: 1, want: ["Waiting", 3, 0] },
    { name: "the last failure is final", record: ["Failed", 3], attempt: 1, want: ["Failed", 3, 0] },
    { name: "so is a last time-out", record: ["TimedOut", 3], attempt: 1, want: ["TimedOut", 3, 0] },
    {
      name: "the next attempt of the plan has its own",
      record: ["Failed", 3],
      attempt: 2,
      want: ["Waiting", 4, 2],
    },
    {
      name: "attempts of the plan that the job had no part in do not count for it",
      record: ["Failed", 3],
      attempt: 5,
      planAttempt: 5,
      want: ["Failed", 3, 0],
    },
    {
      name: "what an earlier version recorded is final",
      record: ["Failed", 1],
      attempt: 4,
      planAttempt: undefined,
      want: ["Failed", 1, 0],
    },
  ] as const;

  test.each(rows)("$name", ({ record: [state, tried], attempt, want, ...row }) => {
    const job = { name: "migrate", template: { template: {} }, attempts: 3 };
    const planAttempt = "planAttempt" in row ? row.planAttempt : 1;
    const known = { ...record, state, attempt: tried, tries: tried };
    const plan = aPlan("p", {
      spec: { stages: [{ name: "s", resources: [], jobs: [job] }] },
      status: {
        startedAt: at,
        jobs: [{ ...known, ...(planAttempt === undefined ? {} : { planAttempt }) }],
      },
    });
    const [view] = jobViews({ plan, planAttempt: attempt, find: () => undefined, elapsedMs: () => 0 });
    expect([view?.state, view?.attempt, view?.triesLeft]).toEqual(want);
  });
});

describe("a Job that is neither complete nor failed", () => {
  test.each([
    { elapsedMs: 11_999, want: "Running" },
    { elapsedMs: 12_000, want: "Running" },
    { elapsedMs: 12_001, want: "TimedOut" },
  ])("is $want after $elapsedMs ms of 10 s", ({ elapsedMs, want }) => {
    const job = { name: "migrate", template: { template: {} }, timeoutSeconds: 10 };
    const plan = aPlan("p", {
      spec: { stages: [{ name: "s", resources: [], jobs: [job] }] },
      status: { startedAt: at },
    });
    const [view] = jobViews({ plan, planAttempt: 1, find: () => aLiveJob(), elapsedMs: () => elapsedMs });
    expect(view?.state).toBe(want);
  });
});

describe("a Job that has ended", () => {
  const lateMs = 700_000;
  test.each([
    { keep: "OnFailure", type: "Complete", state: "Succeeded", goes: true },
    { keep: "Always", type: "Complete", state: "Succeeded", goes: false },
    { keep: "OnFailure", type: "Failed", state: "Failed", goes: false },
    { keep: "Never", type: "Failed", state: "Failed", goes: true },
    { keep: "OnFailure", type: "Deadline", state: "TimedOut", goes: false },
    { keep: "Always", type: "Deadline", state: "TimedOut", goes: false },
    { keep: "Never", type: "Deadline", state: "TimedOut", goes: true },
    // Kubernetes has not ended it: it would run on.
    { keep: "OnFailure", type: undefined, state: "TimedOut", goes: true },
    { keep: "Always", type: undefined, state: "TimedOut", goes: true },
  ] as const)(
    "[first-use/4] with keep: $keep and its end $type is $state; it goes: $goes",
    ({ keep, type, state, goes }) => {
      const live = type === "Deadline" ? pastDeadline : aLiveJob(type);
      const job = { name: "migrate", template: { template: {} }, keep };
      const known = { ...record, state, planAttempt: 1, tries: 1 };
      const plan = aPlan("p", {
        spec: { stages: [{ name: "s", resources: [], jobs: [job] }] },
        status: { startedAt: at, jobs: [known] },
      });
      const jobs = jobViews({ plan, planAttempt: 1, find: () => live, elapsedMs: () => lateMs });
      const { actions } = endedJobs({ ...aSeen(plan), jobs });
      expect(jobs.map((view) => view.state)).toEqual([state]);
      expect(actions).toHaveLength(goes ? 1 : 0);
      // The status names a Job only for as long as it is there.
      expect(jobs.map((view) => "jobName" in jobRecord(view, [], new Date(0)))).toEqual([!goes]);
    },
  );
});

const pastDeadline: Job = {
  ...aLiveJob(),
  status: { conditions: [{ type: "Failed", status: "True", reason: "DeadlineExceeded" }] },
};

describe("a Job that has ended and is not kept", () => {
  const view = (attempt: number) => ({
    stage: "s",
    stageIndex: 0,
    spec: { name: "migrate", keep: "Never" },
    attempt,
    planAttempt: 1,
    tries: attempt,
    jobName: `migrate-${attempt}`,
    state: "Failed" as const,
    live: aLiveJob("Failed"),
    triesLeft: 0,
  });
  const remembered = { ...record, attempt: 2, planAttempt: 1, tries: 2, state: "Failed" as const };

  test.each([
    { name: "goes once its end is in the status", records: [remembered], goes: true },
    { name: "stays while nothing of it is", records: [], goes: false },
    {
      name: "stays while it is there as running",
      records: [{ ...remembered, state: "Running" as const }],
      goes: false,
    },
    { name: "stays while only an earlier try is", records: [{ ...remembered, attempt: 1 }], goes: false },
    {
      name: "stays while only that of another stage is",
      records: [{ ...remembered, stage: "t" }],
      goes: false,
    },
    {
      name: "stays while only another of the stage is",
      records: [{ ...remembered, name: "seed" }],
      goes: false,
    },
  ])("$name: otherwise a crash in between would run it again", ({ records, goes }) => {
    const plan = aPlan("p", { status: { startedAt: at, jobs: records } });
    const { actions, isMoreToCome } = endedJobs({ ...aSeen(plan), jobs: [view(2)] } as never);
    expect({ goes: actions.length === 1, isMoreToCome }).toEqual({ goes, isMoreToCome: !goes });
  });

  test.each([1, 2, 3, 4])("keeps the times of its own try, of %i", (count) => {
    const startOf = (attempt: number): string => `2026-01-01T00:00:0${attempt}Z`;
    const records = Array.from({ length: count }, (_, index) => ({
      ...remembered,
      attempt: index + 1,
      startedAt: startOf(index + 1),
      finishedAt: startOf(index + 1),
    }));
    const times = records.map(({ attempt }) => jobRecord(view(attempt) as never, records, new Date(0)));
    expect(times.map(({ startedAt, finishedAt }) => [startedAt, finishedAt])).toEqual(
      records.map(({ startedAt, finishedAt }) => [startedAt, finishedAt]),
    );
    const next = jobRecord(view(count + 1) as never, records, new Date(0));
    expect([next.startedAt, next.finishedAt]).toEqual(["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"]);
  });
});
