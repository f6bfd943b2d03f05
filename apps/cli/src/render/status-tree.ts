import type { InstallPlan, PlanPhase } from "@quartermaster/api";

import { cleanText } from "../output/clean-text.ts";
import { objectTitle } from "./object-title.ts";
import { type Paint, plain, type Tone } from "./paint.ts";

type Status = NonNullable<InstallPlan["status"]>;
type Detail = NonNullable<Status["details"]>[number];
type Job = NonNullable<Status["jobs"]>[number];
type Stage = InstallPlan["spec"]["stages"][number];

/** A plan as a tree: its stages, what of them is not ready and why, their jobs. */
export function statusTree(plan: InstallPlan, paint: Paint = plain): string {
  const { spec, status } = plan;
  const width = Math.max(...spec.stages.map(({ name }) => name.length));
  const stages = spec.stages.flatMap((stage, index) => [
    `  ${stage.name.padEnd(width)}  ${stageLine(stage, { states: status?.states?.[index], phase: status?.phase }, paint)}${symbolOf(stage, status, paint)}`,
    ...belowStage(stage, status, paint).map((line) => `    ${line}`),
  ]);
  return [...headOf(plan, paint), ...stages, ...omitted(status)].join("\n");
}

function headOf({ metadata, status }: InstallPlan, paint: Paint): readonly string[] {
  const { phase = "not observed yet", message, attempt = 1 } = status ?? {};
  const title = paint("strong", `InstallPlan ${metadata.namespace ?? ""}/${metadata.name}`);
  return [
    `${title}  ${paint(phaseTone(phase), phase)}${attempt > 1 ? paint("faint", `  attempt ${attempt}`) : ""}`,
    ...(message === undefined ? [] : [`  ${cleanText(message, 1_024)}`]),
  ];
}

/** A plan that has finished still names its last stage. */
function symbolOf({ name }: Stage, status: Status | undefined, paint: Paint): string {
  const isNow = name === status?.stage && conditionStatus(status, "Ready") !== "True";
  return isNow ? paint("busy", "  ← now") : "";
}

function belowStage({ name }: Stage, status: Status | undefined, paint: Paint): readonly string[] {
  const { details = [], jobs = [] } = status ?? {};
  return [
    ...details.filter(({ stage }) => stage === name).map((detail) => detailLine(detail, paint)),
    ...jobs.filter(({ stage }) => stage === name).map((job) => jobLine(job, paint)),
  ];
}

/** Whether the plan says that all is well with its latest spec. */
export function isReady({ metadata, status }: InstallPlan): boolean {
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && conditionStatus(status, "Ready") === "True";
}

function conditionStatus(status: Status | undefined, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}

const tones: ReadonlyMap<string, Tone> = new Map<string, Tone>([
  ["Installed", "good"],
  ["Superseded", "faint"],
  ["Paused", "faint"],
  ["Degraded", "bad"],
  ["Failed", "bad"],
  ["Invalid", "bad"],
  ["Forbidden", "bad"],
]);

function phaseTone(phase: string): Tone {
  return tones.get(phase) ?? "busy";
}

interface StageState {
  readonly states: string | undefined;
  readonly phase: Status["phase"] | undefined;
}

function stageLine({ resources = [] }: Stage, { states, phase }: StageState, paint: Paint): string {
  if (phase === "Superseded") return paint("faint", `${resources.length} handed over`);
  if (states === undefined || /^-*$/.test(states))
    return paint("faint", `${resources.length} not yet applied`);
  const ready = states.replaceAll(/[^RS]/g, "").length;
  const line = `${ready}/${states.length} ready`;
  return paint(ready === states.length ? "good" : "busy", line);
}

function detailLine({ object, state, reason, message, otherManager }: Detail, paint: Paint): string {
  const bad = state === "Failed" || state === "Conflict" || state === "Missing";
  const why = [reason, message].filter((part) => part !== undefined).join(": ");
  const other = otherManager === undefined ? "" : ` (${cleanText(otherManager)})`;
  return `${paint(bad ? "bad" : "busy", state)} ${objectTitle(object)}${why === "" ? "" : `  ${cleanText(why)}`}${other}`;
}

function jobLine({ name, state, attempt, message }: Job, paint: Paint): string {
  const tone = jobTones[state];
  const args = message === undefined ? "" : `  ${cleanText(message)}`;
  return `job ${name}  ${paint(tone, state)}${attempt > 1 ? ` (attempt ${attempt})` : ""}${args}`;
}

const jobTones: Readonly<Record<Job["state"], Tone>> = {
  Waiting: "faint",
  Running: "busy",
  Succeeded: "good",
  Failed: "bad",
  TimedOut: "bad",
};

/** The status lists the worst hundred; the rest is only counted. */
function omitted(status: Status | undefined): readonly string[] {
  const { counts, details = [] } = status ?? {};
  if (counts === undefined || details.length < 100) return [];
  const unlisted = counts.total - counts.ready - counts.suspended - details.length;
  return unlisted > 0 ? [`  and ${unlisted} more not ready`] : [];
}

/** Where a plan is, as far as it decides whether to wait for it. */
export type PlanProgress =
  | "ready"
  /** The operator has not seen the plan as it is now, or is still checking it. */
  | "undecided"
  /** All checks have passed. */
  | "underWay"
  /** Another client has to act before it can become ready; or it never will, because another plan has replaced it. */
  | "stuck";

/** By the phase of the plan. */
export function progressOf(plan: InstallPlan): PlanProgress {
  if (isReady(plan)) return "ready";
  const { metadata, status } = plan;
  const isSeen = status?.observedGeneration === metadata.generation;
  if (status?.phase === undefined || !isSeen || checking.has(status.phase)) return "undecided";
  return stuck.has(status.phase) ? "stuck" : "underWay";
}

/** Permissions and kinds that have just come are in the server's answers a little later: a first look may be wrong. */
const stuckObservations = 5;

/** Decides, look by look, whether a watch is over: by the progress of the plan, or when several looks in a row find it stuck. */
export function watchEnd(isFinished: (progress: PlanProgress) => boolean): (plan: InstallPlan) => boolean {
  let stuckFor = 0;
  return (plan) => {
    const progress = progressOf(plan);
    stuckFor = progress === "stuck" ? stuckFor + 1 : 0;
    return progress === "stuck" ? stuckFor >= stuckObservations : isFinished(progress);
  };
}

const checking: ReadonlySet<PlanPhase> = new Set(["Resolving", "Validating"]);
const stuck: ReadonlySet<PlanPhase> = new Set(["Invalid", "Forbidden", "Failed", "Paused", "Superseded"]);
