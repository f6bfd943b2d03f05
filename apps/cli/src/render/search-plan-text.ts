import { firstTen } from "@quartermaster/api";
import { type EditPlan, limitsText, type PoolEdit, type PoolScaling } from "@quartermaster/search/offline";

export function searchPlanText(title: string, plan: EditPlan): string {
  const { issues, ignored, isPaused } = plan;
  if (issues.length > 0)
    return [
      `${title}: invalid; the operator would change nothing.`,
      ...issues.map(({ path, reason, message }) => `  ${reason}: ${path} ${message}`),
    ].join("\n");
  const held = heldLines(plan);
  return [
    `${title}: ${summaryOf(plan)}`,
    ...stepLines(plan).map((line) => `  ${line}`),
    ...(held.length === 0 ? [] : ["Held back:", ...held.map((line) => `  ${line}`)]),
    ...plan.autoscaling.map(scalingLine),
    ...plan.warnings.map((warning) => `Warning: ${warning}`),
    ...ignored.map(({ path, why }) => `${path} has no effect. ${why}`),
    ...(isPaused
      ? ["spec.operations.paused is true: nothing of this happens, except that certificates are renewed."]
      : []),
  ].join("\n");
}

function summaryOf(plan: EditPlan): string {
  const isQuiet = plan.pools.every(({ change, added }) => change === "unchanged" && added.length === 0);
  if (isQuiet && plan.restarts.length === 0 && heldLines(plan).length === 0)
    return "no node is added, removed or restarted.";
  return "what the operator would do:";
}

/** In the order in which it would happen. */
function stepLines({ pools, removals, restarts }: EditPlan): readonly string[] {
  return [
    ...pools.flatMap(poolLines),
    ...(removals.length === 0
      ? []
      : [`drained and removed, one at a time: ${firstTen(removals)}`, ...pools.flatMap(droppedLines)]),
    ...(restarts.length === 0 ? [] : [`restarted, one at a time: ${firstTen(restarts)}`]),
  ];
}

function poolLines({ pool, change, from, to, added }: PoolEdit): readonly string[] {
  if (change === "created") return [`pool ${pool} is created with ${nodes(to)}: ${firstTen(added)}`];
  if (change === "grows")
    return [`pool ${pool} grows from ${String(from)} to ${nodes(to)}: ${firstTen(added)}`];
  return change === "shrinks" ? [`pool ${pool} shrinks from ${String(from)} to ${nodes(to)}`] : [];
}

function droppedLines({ pool, change }: PoolEdit): readonly string[] {
  return change === "removed" ? [`pool ${pool} is removed when its last node is`] : [];
}

/** What the operator does not do yet, or Kubernetes never does: each with its reason. */
export function heldLines({ pools, heldVersion, heldTls }: EditPlan): readonly string[] {
  return [
    ...(heldVersion === undefined
      ? []
      : [
          `OperationNotSupportedYet: the nodes keep their version: the operator does not upgrade to ${heldVersion} yet`,
        ]),
    ...(heldTls === undefined
      ? []
      : [
          `OperationNotSupportedYet: the nodes keep TLS as they were started: a cluster that has formed is not switched to ${heldTls}`,
        ]),
    ...pools
      .filter(({ isStorageChanged }) => isStorageChanged)
      .map(
        ({ pool }) =>
          `OperationNotSupportedYet: pool ${pool} keeps its volumes as they are; add a pool with the new storage and drop this one`,
      ),
  ];
}

function scalingLine(scaling: PoolScaling): string {
  const { pool, mode, minReplicas, maxReplicas, recommendation, limitedBy } = scaling;
  const what =
    mode === "Auto"
      ? `auto-scaling decides how many nodes pool ${pool} has, ${String(minReplicas)} to ${String(maxReplicas)}`
      : `auto-scaling recommends a number of nodes for pool ${pool} and changes nothing`;
  const now = recommendation === undefined ? "" : `; the load requires ${nodes(recommendation)}`;
  const limits = limitsText(limitedBy);
  return `${what}${now}${limits === "" ? "" : ` (${limits})`}.`;
}

function nodes(count: number): string {
  return count === 1 ? "1 node" : `${String(count)} nodes`;
}
