import type { TraceEntry } from "../fault-proxy/fault-proxy.ts";
import { drive, untilQuiet } from "./drive.ts";
import { judge, mayRest, wrongRollback } from "./judge.ts";
import { type FaultPlan, Lives } from "./lives.ts";
import { committedWrites, countWrites } from "./trace.ts";
import type { Workload, WorkloadRun } from "./workload.ts";
import { type WritePoint, writePointsOf } from "./write-point.ts";

/** An undisturbed run: what the others are compared with. */
export interface Reference {
  readonly points: readonly WritePoint[];
  readonly end: unknown;
  /** End after `retarget`; undefined where the workload has none. */
  readonly retargetedEnd: unknown;
  /** Successful creates and deletes by name of the write point. */
  readonly counts: ReadonlyMap<string, number>;
  /** Committed writes of content. */
  readonly writes: number;
  /** Request of each point. */
  readonly requests: ReadonlyMap<WritePoint, TraceEntry>;
}

/**
 * `notApplicable`: the other client could not act; `notReached`: this run had no such write. Both show nothing. `excepted`: it failed, and the workload says
 * why that has to be.
 */
export const verdicts = ["passed", "failed", "excepted", "notApplicable", "notReached"] as const;

/** How a run of a plan ended. */
export interface PlanResult {
  readonly plan: FaultPlan;
  readonly verdict: (typeof verdicts)[number];
  readonly detail: string;
  readonly tookMs: number;
}

/** Runs a workload without a fault and learns its write points. */
export async function learnReference(workload: Workload): Promise<Reference> {
  await using run = await workload.setUp();
  await using lives = new Lives(run, undefined);
  await lives.begin();
  await drive(run, lives, false);
  const end = await run.endState();
  const { trace } = lives;
  const requests = writePointsOf(trace, { aliases: run.aliases });
  return {
    points: [...requests.keys()],
    requests,
    end,
    counts: countWrites(trace, run.aliases),
    writes: committedWrites(trace),
    retargetedEnd: await retargetedEnd(run, lives, end),
  };
}

/** End after the other spec; taken back, the end is that of the first spec again (O15). */
async function retargetedEnd(run: WorkloadRun, lives: Lives, end: unknown): Promise<unknown> {
  if (run.retarget === undefined) return undefined;
  await run.retarget();
  await untilQuiet(lives);
  const retargeted = await run.endState();
  if (run.restore === undefined) return retargeted;
  await run.restore();
  const problem = await wrongRollback(run, end);
  if (problem !== undefined) throw new Error(problem);
  return retargeted;
}

/** Runs a workload with one fault and judges its end. */
export async function runPlan(
  workload: Workload,
  plan: FaultPlan,
  reference: Reference,
): Promise<PlanResult> {
  const startMs = performance.now();
  const ended = (verdict: PlanResult["verdict"], detail = ""): PlanResult => ({
    plan,
    verdict,
    detail,
    tookMs: Math.round(performance.now() - startMs),
  });
  await using run = await workload.setUp();
  await using lives = new Lives(run, plan);
  try {
    await lives.begin();
    const stepTraces = await drive(run, lives, mayRest.has(plan.disturbance));
    if (lives.harm !== undefined) return ended(failedOr(workload, plan), lives.harm);
    if (!lives.hasStruck) return ended("notReached");
    const { notApplicable } = lives.interleaved ?? {};
    if (notApplicable !== undefined) return ended("notApplicable", notApplicable);
    const problem = await judge({ run, lives, plan, reference, stepTraces });
    return problem === undefined ? ended("passed") : ended(failedOr(workload, plan), problem);
  } catch (error) {
    return ended(failedOr(workload, plan), error instanceof Error ? error.message : String(error));
  }
}

function failedOr(workload: Workload, plan: FaultPlan): "failed" | "excepted" {
  return isExcepted(workload, plan) ? "excepted" : "failed";
}

/** Whether the workload says that the plan cannot end well. */
export function isExcepted({ exceptions = [] }: Workload, plan: FaultPlan): boolean {
  return exceptions.some(({ plans }) => plans.test(planName(plan)));
}

/** One line that names a plan, e.g. `plan C2 at patch configmaps a0 #1`. */
export function planName({ workload, disturbance, point, isUnconditional }: FaultPlan): string {
  const stripped = isUnconditional === true ? " without preconditions" : "";
  return `${workload} ${disturbance} at ${point.key} #${point.occurrence}${stripped}`;
}
