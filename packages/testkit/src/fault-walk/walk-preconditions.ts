import type { Preconditions } from "../fault-proxy/preconditions.ts";
import type { DisturbanceId } from "./disturbance.ts";
import type { FaultPlan } from "./lives.ts";
import { learnReference, planName, type PlanResult, type Reference, runPlan } from "./run-plan.ts";
import { recordedWalk } from "./walk-record.ts";
import { classOf, inLanes } from "./walk.ts";
import type { Workload } from "./workload.ts";
import type { WritePoint } from "./write-point.ts";

/** A precondition of a write, and what happened without it. */
export interface PreconditionResult {
  readonly point: WritePoint;
  readonly precondition: keyof Preconditions;
  /** Runs without it, in which another client acted before the write; those after the first that did harm were not made. */
  readonly tried: readonly PlanResult[];
}

/** Other clients' acts that a precondition guards against. Of a status the server ignores the uid: there the version tells objects apart. */
function actsAgainst({ point, precondition }: Guard): readonly DisturbanceId[] {
  if (precondition === "uid" || isOfStatus(point)) return ["I5"];
  // A delete means the edited object, too.
  return point.key.startsWith("delete") ? ["I4-labels", "I4-owners"] : ["I1", "I4-labels", "I4-owners"];
}

function isOfStatus(point: WritePoint): boolean {
  return classOf(point).endsWith("/status");
}

/**
 * Takes each precondition away from each write that bears one, while another client acts: the run has to fail. All of them in a campaign, those of
 * one write of each verb and resource in `make test`.
 */
export async function walkPreconditions(workload: Workload): Promise<readonly PreconditionResult[]> {
  const record = recordedWalk(workload.name, "preconditions");
  const reference = await learnReference(workload);
  const known = new Map(record.known.map((result) => [planName(result.plan), result]));
  const run = async (plan: FaultPlan): Promise<PlanResult> => {
    const before = known.get(planName(plan));
    if (before !== undefined) return before;
    const result = await runPlan(workload, plan, reference);
    record.add(result);
    return result;
  };
  return await inLanes(guardsOf(reference, record.isCampaign), async (guard) => {
    const tried: PlanResult[] = [];
    const { point } = guard;
    for (const disturbance of actsAgainst(guard)) {
      tried.push(await run({ workload: workload.name, disturbance, point, isUnconditional: true }));
      if (tried.at(-1)?.verdict === "failed") break;
    }
    return { ...guard, tried };
  });
}

type Guard = Pick<PreconditionResult, "point" | "precondition">;

function guardsOf({ requests }: Reference, isAll: boolean): readonly Guard[] {
  const guards = [...requests].flatMap(([point, { preconditions }]) =>
    (["uid", "resourceVersion"] as const)
      .filter((name) => preconditions[name] !== undefined && !(name === "uid" && isOfStatus(point)))
      .map((precondition) => ({ point, precondition })),
  );
  if (isAll) return guards;
  const kindOf = ({ point, precondition }: Guard): string => `${classOf(point)} ${precondition}`;
  return [...Map.groupBy(guards, kindOf).values()].flatMap(([first]) => first ?? []);
}

/** Preconditions whose loss did no harm in any run, as lines, without those that the workload excepts. */
export function needlessOf(
  results: readonly PreconditionResult[],
  { exceptions = [] }: Workload,
): readonly string[] {
  return results
    .filter(({ tried }) => tried.every(({ verdict }) => verdict !== "failed" && verdict !== "excepted"))
    .map(({ point, precondition, tried }) => {
      const ends = tried.map(({ plan, verdict, detail }) =>
        `${plan.disturbance} ${verdict} ${detail}`.trim(),
      );
      return `${precondition} of ${point.key} #${point.occurrence}: ${ends.join(", ")}`;
    })
    .filter((line) => !exceptions.some(({ plans }) => plans.test(line)));
}
