import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
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
 * `QM_CAMPAIGN=1` runs everything and records it in `.reports/faults/<workload>.faults.jsonl`; results that stand there already are taken over. Otherwise the
 * record is `<workload>.faults.sample.jsonl`. `QM_FAULT_PLAN` names a file with lines of a record, or with plans alone, and runs only these, each as often
 * as it stands there.
 */
export function recordedWalk(workload: string, part: "faults" | "preconditions" = "faults"): WalkRecord {
  const isCampaign = process.env["QM_CAMPAIGN"] === "1";
  const planFile = process.env["QM_FAULT_PLAN"];
  const only =
    planFile === undefined ? undefined : readPlans(planFile).filter((plan) => plan.workload === workload);
  const isResumed = isCampaign && only === undefined;
  const path = join(directory, `${workload}.${part}${isResumed ? "" : ".sample"}.jsonl`);
  mkdirSync(directory, { recursive: true });
  if (!isResumed) rmSync(path, { force: true });
  return {
    isCampaign,
    only,
    known: isResumed && existsSync(path) ? readLines(path).map((line) => resultSchema.parse(line)) : [],
    add: (result) => {
      appendFileSync(path, `${JSON.stringify(result)}\n`);
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
