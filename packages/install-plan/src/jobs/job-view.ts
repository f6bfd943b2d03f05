import { createHash } from "node:crypto";

import type { InstallPlan } from "@quartermaster/api";
import { trueCondition } from "@quartermaster/health";
import { unreachable } from "@quartermaster/runtime";
import type { Job } from "@quartermaster/runtime/kinds";

import {
  isObservationDue,
  observePods,
  observationDueInMs,
  mayNotListPods,
  type PodObservationOptions,
} from "../members/pod-observations.ts";
import { hasStarted } from "../model/plan-status.ts";
import { isLabelledBy } from "../ownership/owner-labels.ts";

type Stage = InstallPlan["spec"]["stages"][number];
/** A job of a stage, as the plan writes it. */
export type JobSpec = NonNullable<Stage["jobs"]>[number];
export type JobRecord = NonNullable<NonNullable<InstallPlan["status"]>["jobs"]>[number];

/** A job of the plan with its state. */
export interface JobView {
  readonly stage: string;
  readonly stageIndex: number;
  readonly spec: JobSpec;
  /** Counts every Job object that was made for it, over all attempts of the plan. */
  readonly attempt: number;
  /** The attempt of the plan that this try belongs to. */
  readonly planAttempt: number;
  /** Counts the tries in that attempt of the plan. */
  readonly tries: number;
  readonly jobName: string;
  readonly state: JobRecord["state"];
  readonly live?: Job | undefined;
  readonly message?: string | undefined;
  /** When its pods are read again, while it runs. */
  readonly observationDueInMs?: number | undefined;
  /** Tries that are left in this attempt of the plan. */
  readonly triesLeft: number;
}

export interface JobFacts {
  readonly plan: InstallPlan;
  /** Of the plan, from 1. */
  readonly planAttempt: number;
  /** A user says that the plan was restored from a backup (default: false). */
  readonly isRestored?: boolean | undefined;
  readonly find: (name: string) => Job | undefined;
  /** How long the Job of this name has been seen unfinished. */
  readonly elapsedMs: (name: string) => number;
}

/**
 * All jobs of the plan in order. A success that the status remembers holds when its Job no longer exists; a Job that is there has the
 * last word. Before a plan starts no job of it has run, whatever its status says.
 */
export function jobViews(facts: JobFacts): readonly JobView[] {
  return facts.plan.spec.stages.flatMap(({ name: stage, jobs = [] }, stageIndex) =>
    jobs.map((spec) => jobView({ stage, stageIndex, spec }, facts)),
  );
}

/** The same name for the same try, so that a crash between creating and remembering leads to no second Job. */
export function jobNameFor(
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

type Location = Pick<JobView, "stage" | "stageIndex" | "spec">;

function jobView(location: Location, facts: JobFacts): JobView {
  const { stage, spec } = location;
  const record = recordOf(location, facts.plan);
  const { attempt, tries, end } = tryNow(record, spec, facts.planAttempt);
  const jobName = jobNameFor(facts.plan, { stage, job: spec.name, attempt });
  const live = facts.find(jobName);
  const shown = {
    ...location,
    attempt,
    planAttempt: facts.planAttempt,
    tries,
    jobName,
    triesLeft: spec.attempts - tries,
    live,
  };
  const isContradicted = end?.state === "Succeeded" && live !== undefined && !hasCompleted(live);
  if (end !== undefined && !isContradicted) return { ...shown, ...end };
  if (live !== undefined) return { ...shown, ...outcomeOf(live, spec, facts) };
  return { ...shown, ...(record === undefined ? unheardOf(facts) : { state: "Waiting" }) };
}

/** The result of a job is in what was restored; a migration that runs twice is the accident that authors fear. */
function unheardOf({ isRestored = false }: JobFacts): Pick<JobView, "state" | "message"> {
  if (!isRestored) return { state: "Waiting" };
  return { state: "Succeeded", message: "Not run: the plan was restored from a backup." };
}

function recordOf({ stage, spec }: Location, plan: InstallPlan): JobRecord | undefined {
  if (!hasStarted(plan)) return undefined;
  return plan.status?.jobs?.find((known) => known.stage === stage && known.name === spec.name);
}

interface TryNow extends Pick<JobView, "attempt" | "tries"> {
  readonly end?: Pick<JobView, "state" | "message">;
}

/** Which try counts now, and how it ended if the status remembers its end. After a failure it is the next, if one is left. */
function tryNow(record: JobRecord | undefined, spec: JobSpec, planAttempt: number): TryNow {
  const attempt = Math.max(1, record?.attempt ?? 1);
  const tries = triesSoFar(record, spec, planAttempt);
  const state = record?.state;
  switch (state) {
    case "Succeeded":
      return { attempt, tries, end: { state: "Succeeded" } };
    case "Failed":
    case "TimedOut":
      if (tries < spec.attempts) return { attempt: attempt + 1, tries: tries + 1 };
      return { attempt, tries, end: { state, ...messageOf(record?.message) } };
    case "Waiting":
    case "Running":
    case undefined:
      return { attempt, tries: Math.max(1, tries) };
    default:
      return unreachable(state);
  }
}

/**
 * How many tries were made in this attempt of the plan. A record of an earlier version does not say: then all are used up, because
 * a job too many is worse than one that a user has to request.
 */
function triesSoFar(record: JobRecord | undefined, { attempts }: JobSpec, planAttempt: number): number {
  if (record === undefined) return 0;
  if (record.planAttempt === undefined) return attempts;
  return record.planAttempt === planAttempt ? (record.tries ?? 1) : 0;
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

function messageOf(message: string | undefined): Pick<JobView, "message"> {
  return { message: message?.slice(0, 256) };
}

/** Whether a Job was made for a stage of the plan: it has the plan as an owner by uid, and labels that a write of ours set. */
export function isOwnJob(job: Job, plan: InstallPlan): boolean {
  const isOwner = job.metadata.ownerReferences?.some(({ uid }) => uid === plan.metadata.uid) ?? false;
  return isOwner && isLabelledBy(job, plan.metadata);
}

/**
 * Says of the Job that runs why its pods fail or do not start: until its deadline it would be running and nothing else. The pods are
 * read as the plan's account, as those of workloads are. What is found changes words only.
 */
export async function explainRunning(
  jobs: readonly JobView[],
  parts: Pick<PodObservationOptions, "memory" | "nowMs" | "account">,
): Promise<readonly JobView[]> {
  const { memory, nowMs } = parts;
  const running = jobs.find(({ state, live }) => state === "Running" && live !== undefined);
  if (running === undefined) {
    memory.jobObservation = undefined;
    return jobs;
  }
  const { jobName, live } = running;
  const last = memory.jobObservation?.jobName === jobName ? memory.jobObservation.observation : undefined;
  const observation =
    last === undefined || isObservationDue(last, live, nowMs) ? await observePods(last, live, parts) : last;
  memory.jobObservation = { jobName, observation };
  const message = observation.trouble?.message ?? ofJobAlone(running, observation.isForbidden === true);
  const dueInMs = observationDueInMs(observation, live, nowMs);
  const explained = {
    ...running,
    message: message?.slice(0, 256) ?? running.message,
    observationDueInMs: dueInMs,
  };
  return jobs.map((job) => (job === running ? explained : job));
}

/** The Job's own message, where its pods have none or may not be read. */
function ofJobAlone({ live }: JobView, isForbidden: boolean): string | undefined {
  if ((live?.status?.failed ?? 0) === 0) return undefined;
  return `Pods of it have failed.${isForbidden ? ` ${mayNotListPods}` : ""}`;
}
