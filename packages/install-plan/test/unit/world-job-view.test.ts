import type { Job } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { jobViews } from "../../src/jobs/job-view.ts";
import { aPlan } from "../support/plans.ts";

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
    { name: "holds when its Job is gone", status: { startedAt: at }, live: undefined, want: "Succeeded" },
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
