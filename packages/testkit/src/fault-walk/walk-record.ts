import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { disturbanceIds } from "./disturbance.ts";
import type { FaultPlan } from "./lives.ts";
import { type PlanResult, verdicts } from "./run-plan.ts";

/** Results of a walk on disk, one line of JSON each. */
export interface WalkRecord {
  readonly isCampaign: boolean;
  /** Plans of the plan file that are this workload's; undefined without a plan file. */
  readonly only: readonly FaultPlan[] | undefined;
  /** Results of the campaign that was interrupted. */
  readonly known: readonly PlanResult[];
  add(result: PlanResult): void;
}

const directory = ".reports/faults";

/**
 * `QM_CAMPAIGN=1` runs everything and records it in `.reports/faults/<workload>.jsonl`; results that stand there already are taken over. `QM_FAULT_PLAN`
 * names a file with lines of such a record, or with plans alone, and runs only these, each as often as it stands there.
 */
export function recordedWalk(workload: string): WalkRecord {
  const isCampaign = process.env["QM_CAMPAIGN"] === "1";
  const planFile = process.env["QM_FAULT_PLAN"];
  const only =
    planFile === undefined ? undefined : readPlans(planFile).filter((plan) => plan.workload === workload);
  const path = join(directory, `${workload}.jsonl`);
  const isRecorded = isCampaign && only === undefined;
  if (isRecorded) mkdirSync(directory, { recursive: true });
  return {
    isCampaign,
    only,
    known: isRecorded && existsSync(path) ? readLines(path).map((line) => resultSchema.parse(line)) : [],
    add: (result) => {
      if (isRecorded) appendFileSync(path, `${JSON.stringify(result)}\n`);
    },
  };
}

function readPlans(path: string): readonly FaultPlan[] {
  return readLines(path)
    .map((line) => z.union([planSchema, z.object({ plan: planSchema })]).parse(line))
    .map((line) => ("plan" in line ? line.plan : line));
}

function readLines(path: string): readonly unknown[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line): unknown => JSON.parse(line));
}

const planSchema = z.object({
  workload: z.string(),
  disturbance: z.enum(disturbanceIds),
  point: z.object({ key: z.string(), occurrence: z.int() }),
  isUnconditional: z.boolean().optional(),
});

const resultSchema = z.object({
  plan: planSchema,
  verdict: z.enum(verdicts),
  detail: z.string(),
  tookMs: z.number(),
});
