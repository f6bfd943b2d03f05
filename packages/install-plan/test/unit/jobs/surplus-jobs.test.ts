import type { Job } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { surplusJobs } from "../../../src/jobs/ended-jobs.ts";
import { jobNameFor, jobViews } from "../../../src/jobs/job-view.ts";
import { jobFieldManager, ownerLabelsFor } from "../../../src/ownership/owner-labels.ts";
import { aPlan } from "../../support/plans.ts";

const job = { name: "migrate", template: { template: {} } };
const spec = { stages: [{ name: "s", resources: [], jobs: [job] }] };

function aPlanAt(attempt: number, state: string) {
  const record = { stage: "s", name: "migrate", jobName: "any", attempt, state };
  const jobs = [{ ...record, planAttempt: attempt, tries: 1 }];
  return aPlan("p", { spec, status: { startedAt: "2026-01-01T00:00:00Z", attempt, jobs } });
}

/** The Job of one try, as the server returns it. */
function aJob(attempt: number, more: { condition?: string; owner?: string; leaving?: true } = {}): Job {
  const { condition = "Failed", owner = "uid-p", leaving } = more;
  const plan = aPlanAt(1, "Failed");
  const name = jobNameFor(plan, { stage: "s", job: "migrate", attempt });
  const identity = { apiVersion: "batch/v1", kind: "Job", namespace: "ns", name };
  const { labels, annotations } = ownerLabelsFor({ plan, revision: 1 }, identity);
  const fields = Object.fromEntries(Object.keys(labels).map((label) => [`f:${label}`, {}]));
  const fieldsV1 = { "f:metadata": { "f:labels": fields } };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      namespace: "ns",
      labels,
      annotations,
      ownerReferences: [
        { apiVersion: "install.quartermaster.dev/v1alpha1", kind: "InstallPlan", name: "p", uid: owner },
      ],
      managedFields: [{ manager: jobFieldManager, operation: "Update", fieldsV1 }],
      ...(leaving === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    status: { conditions: [{ type: condition, status: "True" }] },
  };
}

const five = [1, 2, 3, 4, 5];

interface Row {
  readonly name: string;
  readonly now: readonly [attempt: number, state: string];
  readonly jobs: readonly Job[];
  /** Numbers of the tries whose Jobs go. */
  readonly want: readonly number[];
}

const rows: readonly Row[] = [
  {
    name: "three are no surplus",
    now: [3, "Failed"],
    jobs: [1, 2, 3].map((each) => aJob(each)),
    want: [],
  },
  { name: "the last three stay", now: [5, "Failed"], jobs: five.map((each) => aJob(each)), want: [1, 2] },
  {
    name: "while a try runs the three before it stay",
    now: [5, "Running"],
    jobs: five.map((each) => aJob(each)),
    want: [1],
  },
  {
    name: "one that succeeded is none of them",
    now: [5, "Failed"],
    jobs: [aJob(1, { condition: "Complete" }), aJob(2)],
    want: [2],
  },
  {
    name: "one that is on its way out is none of them",
    now: [5, "Failed"],
    jobs: [aJob(1, { leaving: true })],
    want: [],
  },
  {
    name: "one of another owner is none of them",
    now: [5, "Failed"],
    jobs: [aJob(1, { owner: "uid-q" })],
    want: [],
  },
];

describe("failed Jobs that are not kept", () => {
  test.each(rows)("$name", ({ now: [attempt, state], jobs, want }) => {
    const plan = aPlanAt(attempt, state);
    const views = jobViews({ plan, planAttempt: attempt, find: () => undefined, elapsedMs: () => 0 });
    const names = surplusJobs(plan, views, () => jobs).map(({ metadata }) => metadata.name);
    expect(names).toEqual(
      want.map((each) => jobNameFor(plan, { stage: "s", job: "migrate", attempt: each })),
    );
  });
});
