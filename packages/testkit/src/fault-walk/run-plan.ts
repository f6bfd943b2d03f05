import { isDeepStrictEqual } from "node:util";

import { eventually } from "../eventually.ts";
import type { TraceEntry } from "../fault-proxy/fault-proxy.ts";
import type { DisturbanceId } from "./disturbance.ts";
import { harmDone } from "./harm.ts";
import { type FaultPlan, Lives } from "./lives.ts";
import { mergeInto, otherClientAnnotation } from "./target.ts";
import { countWrites, repeatedWrite, unguardedWrite, writeAtRest } from "./trace.ts";
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

/** Maximum time of a step, and of the way back to the end state of the reference; ten times what a busy machine takes. */
const limitMs = 180_000;
/** Longer than the pauses between the retries after a crash. */
const backOffMs = 5_000;
/** Without a write for this long, an operator that was woken has nothing to write. */
const settleMs = 400;
/** Without a write for this long, an operator that holds something back is at rest. */
const restMs = 2_500;

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
    retargetedEnd: run.retarget === undefined ? undefined : await retargetedEnd(run, lives),
  };
}

async function retargetedEnd(run: WorkloadRun, lives: Lives): Promise<unknown> {
  await run.retarget?.();
  await untilQuiet(lives);
  return await run.endState();
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
    await drive(run, lives, mayRest.has(plan.disturbance));
    if (lives.harm !== undefined) return ended(failedOr(workload, plan), lives.harm);
    if (!lives.hasStruck) return ended("notReached");
    const { notApplicable } = lives.interleaved ?? {};
    if (notApplicable !== undefined) return ended("notApplicable", notApplicable);
    const problem = await judge({ run, lives, plan, reference });
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

/** After these the operator may rightly hold something back: the end is not that of the reference. */
const mayRest: ReadonlySet<DisturbanceId> = new Set(["I2", "I4-labels", "I4-owners", "I5"]);

async function drive(run: WorkloadRun, lives: Lives, canRest: boolean): Promise<void> {
  for (const step of run.steps) {
    if (lives.harm !== undefined) return;
    try {
      await step.act();
    } catch (error) {
      if (!lives.hasStruck) throw error;
    }
    const quiet = quietWatch(lives);
    await eventually(
      async (see) => {
        await lives.settled();
        if (lives.harm !== undefined) return true;
        const isDone = await step.isDone().catch(() => false);
        see(`step "${step.name}" is not done`);
        return isDone || (canRest && lives.hasStruck && quiet());
      },
      { withinMs: limitMs },
    );
  }
}

async function untilQuiet(lives: Lives, forMs = restMs): Promise<void> {
  const quiet = quietWatch(lives, forMs);
  await eventually(() => quiet(), { withinMs: limitMs });
}

/** True once no write was seen for a while. */
function quietWatch(lives: Lives, forMs = restMs): () => boolean {
  let count = -1;
  let sinceMs = 0;
  return () => {
    const nowMs = performance.now();
    const { length } = lives.trace.filter(({ verb }) => !["get", "list", "watch"].includes(verb));
    if (length !== count) [count, sinceMs] = [length, nowMs];
    return nowMs - sinceMs > forMs;
  };
}

interface Judged {
  readonly run: WorkloadRun;
  readonly lives: Lives;
  readonly plan: FaultPlan;
  readonly reference: Reference;
}

/** First rule of the oracles that the run breaks; undefined when it keeps all. */
async function judge(judged: Judged): Promise<string | undefined> {
  const { run, lives, plan } = judged;
  const harm =
    lives.interleaved === undefined ? undefined : await harmDone(plan.disturbance, run, lives.interleaved);
  return (
    harm ??
    (await wrongEnd(judged)) ??
    brokenRule(judged) ??
    (plan.disturbance.startsWith("I") ? undefined : await restlessness(judged))
  );
}

/** Rules that the trace shows. Where another client deletes things, repeated writes are right. */
function brokenRule({
  run,
  lives: { trace },
  plan,
  reference: { counts: usual },
}: Judged): string | undefined {
  const { aliases } = run;
  return (
    unguardedWrite(trace) ??
    (plan.disturbance.startsWith("I") ? undefined : repeatedWrite(trace, { aliases, usual })) ??
    run.judgeTrace?.(trace)
  );
}

/** O14: every custom resource is reconciled again. */
async function restlessness({ run, lives }: Judged): Promise<string | undefined> {
  // A retry after a back-off is no write at rest.
  await untilQuiet(lives, backOffMs);
  const from = lives.trace.length;
  for (const path of run.primaryPaths)
    await mergeInto(run.api, path, { metadata: { annotations: { [otherClientAnnotation]: "again" } } });
  await untilQuiet(lives, settleMs);
  return writeAtRest(lives.trace, from);
}

/** O1, and O4 after a deletion. */
async function wrongEnd({ run, plan, reference }: Judged): Promise<string | undefined> {
  const { disturbance } = plan;
  if (disturbance === "I2") {
    const isCleared = await became(async () => await run.isCleared());
    return isCleared ? undefined : "O4: something is left after the deletion";
  }
  if (mayRest.has(disturbance)) return undefined;
  const want = disturbance === "I3" ? reference.retargetedEnd : reference.end;
  let last: unknown;
  const isEqual = await became(async () => isDeepStrictEqual((last = await run.endState()), want));
  return isEqual
    ? undefined
    : `O1: the end differs: ${JSON.stringify(last)} instead of ${JSON.stringify(want)}`;
}

async function became(probe: () => Promise<boolean>): Promise<boolean> {
  try {
    return await eventually(probe, { withinMs: limitMs });
  } catch {
    return false;
  }
}
