import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import type { DisturbanceId } from "./disturbance.ts";
import { became, untilQuiet } from "./drive.ts";
import { harmDone } from "./harm.ts";
import type { FaultPlan, Lives } from "./lives.ts";
import type { Reference } from "./run-plan.ts";
import { mergeInto, otherClientAnnotation, type RawObject, readObject } from "./target.ts";
import {
  earlyReady,
  forbiddenRequest,
  repeatedWrite,
  type Trace,
  unguardedWrite,
  wastedWrites,
  writeAtRest,
} from "./trace.ts";
import type { WorkloadRun } from "./workload.ts";

/** Longer than the pauses between the retries after a crash. */
const backOffMs = 5_000;
/** Without a write for this long, an operator that was woken has nothing to write. */
const settleMs = 400;
/** After these the operator may rightly hold something back: the end is not that of the reference. */
export const mayRest: ReadonlySet<DisturbanceId> = new Set(["I2", "I4-labels", "I4-owners", "I5"]);

/** A run with one fault, and the undisturbed one that it is compared with. */
export interface Judged {
  readonly run: WorkloadRun;
  readonly lives: Lives;
  readonly plan: FaultPlan;
  readonly reference: Reference;
  /** Requests of each step of the user. */
  readonly stepTraces: readonly Trace[];
}

/** First rule of the oracles that the run breaks; undefined when it keeps all. */
export async function judge(judged: Judged): Promise<string | undefined> {
  const { run, lives, plan } = judged;
  const harm =
    lives.interleaved === undefined ? undefined : await harmDone(plan.disturbance, run, lives.interleaved);
  return (
    harm ??
    (await wrongEnd(judged)) ??
    brokenRule(judged) ??
    (plan.disturbance.startsWith("I") ? undefined : await outdatedStatus(run)) ??
    (plan.disturbance.startsWith("I") ? undefined : await restlessness(judged))
  );
}

/** Rules that the trace shows. Where another client deletes things, repeated writes are right. */
function brokenRule(judged: Judged): string | undefined {
  const { run, lives, plan } = judged;
  return (
    unguardedWrite(lives.trace) ??
    forbiddenRequest(lives.trace) ??
    (plan.disturbance.startsWith("I") ? undefined : brokenCount(judged)) ??
    run.judgeTrace?.(lives.trace)
  );
}

function brokenCount({
  run: { aliases, primaryPaths },
  lives: { trace },
  plan,
  reference,
  stepTraces,
}: Judged): string | undefined {
  const { counts: usual, writes } = reference;
  return (
    repeatedWrite(trace, { aliases, usual }) ??
    (plan.disturbance.startsWith("E") ? wastedWrites(trace, writes) : undefined) ??
    stepTraces.map((step) => earlyReady(step, primaryPaths)).find((problem) => problem !== undefined)
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

/** O7: a status that was judged by another generation than that of the spec. */
async function outdatedStatus({ api, primaryPaths }: WorkloadRun): Promise<string | undefined> {
  for (const path of primaryPaths) {
    const isCurrent = await became(async () => {
      const object = await readObject(api, path);
      return object === undefined || observesSpec(object);
    });
    if (!isCurrent) return `O7: the status of ${path} is of another generation than its spec`;
  }
  return undefined;
}

/** Whether a status names the generation of the spec; true for kinds without conditions, e.g. webhook configurations. */
export function observesSpec({ metadata, status }: RawObject): boolean {
  const judged = conditionsStatus.safeParse(status).data;
  return judged === undefined || judged.observedGeneration === metadata.generation;
}

const conditionsStatus = z.object({
  conditions: z.array(z.unknown()),
  observedGeneration: z.int().optional(),
});

/** O1, and O4 after a deletion. */
export async function wrongEnd(
  { run, plan, reference }: Pick<Judged, "run" | "plan" | "reference">,
  withinMs?: number,
): Promise<string | undefined> {
  const { disturbance } = plan;
  if (disturbance === "I2") {
    const isCleared = await became(async () => await run.isCleared(), withinMs);
    return isCleared ? undefined : "O4: something is left after the deletion";
  }
  if (mayRest.has(disturbance)) return undefined;
  const want = disturbance === "I3" ? reference.retargetedEnd : reference.end;
  const differs = await differingEnd(run, want, withinMs);
  return differs === undefined ? undefined : `O1: the end differs: ${differs}`;
}

/** O15: the spec is the former one again, and what it leads to is not. */
export async function wrongRollback(
  run: Pick<WorkloadRun, "endState">,
  former: unknown,
  withinMs?: number,
): Promise<string | undefined> {
  const differs = await differingEnd(run, former, withinMs);
  return differs === undefined ? undefined : `O15: the former spec leads to another end: ${differs}`;
}

async function differingEnd(
  run: Pick<WorkloadRun, "endState">,
  want: unknown,
  withinMs?: number,
): Promise<string | undefined> {
  let last: unknown;
  const isEqual = await became(async () => isDeepStrictEqual((last = await run.endState()), want), withinMs);
  return isEqual ? undefined : `${JSON.stringify(last)} instead of ${JSON.stringify(want)}`;
}
