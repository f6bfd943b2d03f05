import { createHash } from "node:crypto";

import type { InstallPlan } from "@quartermaster/api";
import { unreachable } from "@quartermaster/runtime";

import { trueCondition } from "../health/object-parts.ts";
import { hasStarted } from "../progress.ts";
import type { Job } from "./kinds.ts";

type Stage = InstallPlan["spec"]["stages"][number];
/** A job of a stage, as the plan writes it. */
export type JobSpec = NonNullable<Stage["jobs"]>[number];
/** What the status remembers of a job. */
export type JobRecord = NonNullable<NonNullable<InstallPlan["status"]>["jobs"]>[number];

/** A job of the plan with its state. */
export interface JobView {
  readonly stage: string;
  readonly stageIndex: number;
  readonly spec: JobSpec;
  /** Counts every Job object that was made for it, over all attempts of the plan. */
  readonly attempt: number;
  readonly jobName: string;
  readonly state: JobRecord["state"];
  readonly live?: Job;
  readonly message?: string;
  /** Tries that are left in this attempt of the plan. */
  readonly triesLeft: number;
}

/** What a job's view is made from. */
export interface JobFacts {
  readonly plan: InstallPlan;
  /** Of the plan, from 1. */
  readonly planAttempt: number;
  readonly find: (name: string) => Job | undefined;
  /** How long the Job of this name has been seen unfinished. */
  readonly elapsedMs: (name: string) => number;
}

/**
 * All jobs of the plan in order. A success that the status remembers holds when its Job is gone; a Job that is there has the
 * last word. Before a plan starts no job of it has run, whatever its status says.
 */
export function jobViews(facts: JobFacts): readonly JobView[] {
  return facts.plan.spec.stages.flatMap(({ name: stage, jobs = [] }, stageIndex) =>
    jobs.map((spec) => jobView({ stage, stageIndex, spec }, facts)),
  );
}

/** The same name for the same try, so that a crash between creating and remembering leads to no second Job. */
function jobNameFor(
  plan: InstallPlan,
  { stage, job, attempt }: { readonly stage: string; readonly job: string; readonly attempt: number },
): string {
  const hash = createHash("sha256")
    .update([plan.metadata.uid, stage, job, String(attempt)].join("/"))
    .digest("hex")
    .slice(0, 10);
  const readable = `${plan.metadata.name}-${stage}-${job}`
    .replaceAll(".", "-")
    .slice(0, 50)
    .replace(/-+$/, "");
  return `${readable}-${hash}`;
}

type Place = Pick<JobView, "stage" | "stageIndex" | "spec">;

function jobView(place: Place, facts: JobFacts): JobView {
  const { stage, spec } = place;
  const record = recordOf(place, facts.plan);
  const allowed = facts.planAttempt * spec.attempts;
  const { attempt, end } = tryNow(record, allowed);
  const jobName = jobNameFor(facts.plan, { stage, job: spec.name, attempt });
  const live = facts.find(jobName);
  const shown = {
    ...place,
    attempt,
    jobName,
    triesLeft: allowed - attempt,
    ...(live === undefined ? {} : { live }),
  };
  const isContradicted = end?.state === "Succeeded" && live !== undefined && !hasCompleted(live);
  if (end !== undefined && !isContradicted) return { ...shown, ...end };
  return { ...shown, ...(live === undefined ? { state: "Waiting" as const } : outcomeOf(live, spec, facts)) };
}

function recordOf({ stage, spec }: Place, plan: InstallPlan): JobRecord | undefined {
  if (!hasStarted(plan)) return undefined;
  return plan.status?.jobs?.find((known) => known.stage === stage && known.name === spec.name);
}

/** Which try counts now, and how it ended if the status remembers its end. After a failure it is the next, if one is left. */
function tryNow(
  record: JobRecord | undefined,
  allowed: number,
): { readonly attempt: number; readonly end?: Pick<JobView, "state" | "message"> } {
  const attempt = Math.max(1, record?.attempt ?? 1);
  const state = record?.state;
  switch (state) {
    case "Succeeded":
      return { attempt, end: { state: "Succeeded" } };
    case "Failed":
    case "TimedOut":
      if (attempt < allowed) return { attempt: attempt + 1 };
      return { attempt, end: { state, ...messageOf(record?.message) } };
    case "Waiting":
    case "Running":
    case undefined:
      return { attempt };
    default:
      return unreachable(state);
  }
}

function hasCompleted(live: Job): boolean {
  return trueCondition(live, "Complete") !== undefined;
}

function outcomeOf(live: Job, spec: JobSpec, facts: JobFacts): Pick<JobView, "state" | "message"> {
  if (hasCompleted(live)) return { state: "Succeeded" };
  const failure = (live.status?.conditions ?? []).find(
    ({ type, status }) => type === "Failed" && status === "True",
  );
  if (failure?.reason === "DeadlineExceeded") return timedOut(spec);
  if (failure !== undefined) return { state: "Failed", ...messageOf(failure.message) };
  const isLate = facts.elapsedMs(live.metadata.name) > spec.timeoutSeconds * 1000 + graceMs;
  return isLate ? timedOut(spec) : { state: "Running" };
}

/** The Job's own deadline goes first; ours is for clusters whose job controller does not act. */
const graceMs = 2_000;

function timedOut({ timeoutSeconds }: JobSpec): Pick<JobView, "state" | "message"> {
  return { state: "TimedOut", message: `The job did not finish within ${timeoutSeconds} s.` };
}

function messageOf(message: string | undefined): { readonly message?: string } {
  return message === undefined ? {} : { message: message.slice(0, 256) };
}
