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
 * A campaign records each result, so that an interrupted one continues where it stopped; a plan file repeats a single plan.
 */
export async function walkFaults(workload: Workload): Promise<WalkReport> {
  const record = recordedWalk(workload.name);
  const reference = await learnReference(workload);
  const plans = record.only ?? (record.isCampaign ? planFaults : samplePlans)(workload, reference);
  const known = new Map(record.known.map((result) => [planName(result.plan), result]));
  const results = await inLanes(plans, async (plan) => {
    const before = known.get(planName(plan));
    if (before !== undefined) return before;
    const result = await runPlan(workload, plan, reference);
    record.add(result);
    return result;
  });
  return { points: reference.points, results };
}

/** Works on some items at a time. */
export async function inLanes<I, R>(items: readonly I[], work: (item: I) => Promise<R>): Promise<R[]> {
  const open = items.values();
  const results: R[] = [];
  const lane = async (): Promise<void> => {
    for (const item of open) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Every fault at every write point of the reference. */
function planFaults(
  { name: workload }: Workload,
  { points, requests, retargetedEnd }: Reference,
): readonly FaultPlan[] {
  const ids = disturbanceIds.filter((id) => id !== "I3" || retargetedEnd !== undefined);
  return points.flatMap((point) =>
    ids
      .filter((id) => !ofExisting.has(id) || requests.get(point)?.status !== 201)
      .map((disturbance) => ({ workload, disturbance, point })),
  );
}

/** Another client can do these only to an object that exists. */
const ofExisting: ReadonlySet<DisturbanceId> = new Set(["I1", "I4-deleted", "I4-labels", "I4-owners"]);
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

/** One fault at a write of each verb and resource, and a delete of each resource met by others and by a crash; without exceptions. */
function samplePlans(workload: Workload, reference: Reference): readonly FaultPlan[] {
  if (workload.sample !== undefined) return namedPlans(workload.sample, planFaults(workload, reference));
  const { points, requests } = reference;
  const chosen = [...Map.groupBy(points, classOf).values()].flatMap((alike) => alike.slice(0, 1));
  const plans = chosen.flatMap((point, at) => {
    const ids = isDelete(point) ? atDeletes : turnAt(at, requests.get(point)?.status === 201);
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

/** Verb and resource. */
export function classOf({ key }: WritePoint): string {
  return key.split(" ").slice(0, 2).join(" ");
}

function isDelete(point: WritePoint | undefined): boolean {
  return point?.key.startsWith("delete") === true;
}

function turnAt(at: number, isCreation: boolean): readonly DisturbanceId[] {
  const ids = isCreation ? inTurn.filter((id) => !ofExisting.has(id)) : inTurn;
  return ids.slice(at % ids.length).slice(0, 1);
}

/** Failed results as lines. */
export function failuresOf(results: readonly PlanResult[]): readonly string[] {
  return results
    .filter(({ verdict }) => verdict === "failed")
    .map(({ plan, detail }) => `${planName(plan)}: ${detail}`);
}
