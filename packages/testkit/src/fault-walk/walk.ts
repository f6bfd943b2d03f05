import { type DisturbanceId, disturbanceIds } from "./disturbance.ts";
import type { FaultPlan } from "./lives.ts";
import {
  isExcepted,
  learnReference,
  planName,
  type PlanResult,
  type Reference,
  runPlan,
} from "./run-plan.ts";
import { recordedWalk } from "./walk-record.ts";
import type { Workload } from "./workload.ts";
import type { WritePoint } from "./write-point.ts";

/** Outcome of a walk. */
export interface WalkReport {
  readonly points: readonly WritePoint[];
  readonly results: readonly PlanResult[];
}

/** Runs beside each other: most of a run is waiting. */
const lanes = 4;

/**
 * Learns the write points of a workload, then runs it once per plan: every fault at every write in a campaign, a sample in `make test`.
 * A campaign records each result, so that an interrupted one goes on where it stopped; a plan file repeats a single plan.
 */
export async function walkFaults(workload: Workload): Promise<WalkReport> {
  const record = recordedWalk(workload.name);
  const reference = await learnReference(workload);
  const plans = record.only ?? (record.isCampaign ? planFaults : samplePlans)(workload, reference);
  const known = new Map(record.known.map((result) => [planName(result.plan), result]));
  const results = plans.flatMap((plan) => known.get(planName(plan)) ?? []);
  const open = plans.filter((plan) => !known.has(planName(plan))).values();
  const lane = async (): Promise<void> => {
    for (const plan of open) {
      const result = await runPlan(workload, plan, reference);
      results.push(result);
      record.add(result);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { points: reference.points, results };
}

/** Every fault at every write point of the reference. */
function planFaults(
  { name: workload }: Workload,
  { points, retargetedEnd }: Reference,
): readonly FaultPlan[] {
  const ids = disturbanceIds.filter((id) => id !== "I3" || retargetedEnd !== undefined);
  return points.flatMap((point) => ids.map((disturbance) => ({ workload, disturbance, point })));
}

/** In turn at the writes that destroy nothing. */
const inTurn: readonly DisturbanceId[] = [
  "C2",
  "I5",
  "C1",
  "I1",
  "E1",
  "C3",
  "I4-deleted",
  "E6",
  "I4-labels",
];
/** At every write that deletes. */
const atDeletes: readonly DisturbanceId[] = ["I5", "I4-labels", "C2"];

/** One fault at the first write of each name, and each delete met by another client and by a crash; without exceptions. */
function samplePlans(workload: Workload, reference: Reference): readonly FaultPlan[] {
  if (workload.sample !== undefined) return namedPlans(workload.sample, planFaults(workload, reference));
  const { points } = reference;
  const firsts = points.filter(({ occurrence }) => occurrence === 1);
  const plans = firsts.flatMap((point, at) => {
    const ids = point.key.startsWith("delete") ? atDeletes : inTurn.slice(at % inTurn.length).slice(0, 1);
    return ids.map((disturbance) => ({ workload: workload.name, disturbance, point }));
  });
  return plans.filter((plan) => !isExcepted(workload, plan));
}

function namedPlans(names: readonly string[], plans: readonly FaultPlan[]): readonly FaultPlan[] {
  const byName = new Map(plans.map((plan) => [planName(plan), plan]));
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0) throw new Error(`no such plans: ${unknown.join(", ")}`);
  return names.flatMap((name) => byName.get(name) ?? []);
}

/** Each delete met by another client, without its preconditions: plans that have to fail. */
export async function withoutPreconditions(workload: Workload): Promise<readonly PlanResult[]> {
  const reference = await learnReference(workload);
  const deletes = reference.points.filter(
    ({ key, occurrence }) => key.startsWith("delete") && occurrence === 1,
  );
  const plan = (point: WritePoint): FaultPlan => ({
    workload: workload.name,
    disturbance: "I5",
    point,
    isUnconditional: true,
  });
  return await Promise.all(deletes.map(async (point) => await runPlan(workload, plan(point), reference)));
}

/** Failed results as lines. */
export function failuresOf(results: readonly PlanResult[]): readonly string[] {
  return results
    .filter(({ verdict }) => verdict === "failed")
    .map(({ plan, detail }) => `${planName(plan)}: ${detail}`);
}
