import type { LaneDecision } from "../lane.ts";
import { newNodesMessage } from "../repair/member-missing.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

type Report = Partial<ClusterStatus>;

/**
 * Nodes that start for the first time join one by one. Who has joined is reported with what else there is to say: when all have, or when
 * one takes so long that it is named. What gets worse meanwhile is reported immediately.
 */
export function whileStarting(
  { status }: Pick<Seen, "status">,
  decisions: readonly LaneDecision[],
  report: Report,
): Report {
  if (!isStillStarting(status, decisions)) return report;
  const { capacity, availableNodes, nodePools, nodes } = report;
  const present = fewer("presentNodes", status.capacity?.presentNodes, capacity?.presentNodes);
  return {
    ...report,
    ...fewer("availableNodes", status.availableNodes, availableNodes),
    ...(capacity === undefined ? {} : { capacity: { ...capacity, ...present } }),
    ...(nodePools === undefined ? {} : { nodePools: nodePools.map((pool) => heldPool(pool, status)) }),
    ...(nodes === undefined ? {} : { nodes: nodes.map((node) => heldNode(node, status)) }),
  };
}

/** The lane reports that nodes start, and has reported it before. */
function isStillStarting({ blockers = [] }: Report, decisions: readonly LaneDecision[]): boolean {
  const decision = decisions.find(({ lane }) => lane === "nodes");
  if (decision?.outcome.kind !== "waiting") return false;
  const reported = blockers.find(({ lane }) => lane === "nodes");
  return decision.outcome.why.message === newNodesMessage && reported?.message === newNodesMessage;
}

type Count = "availableNodes" | "presentNodes" | "ready" | "current";

/** The smaller of both, under its name. */
function fewer<Name extends Count>(
  name: Name,
  before: number | undefined,
  now: number | undefined,
): Partial<Record<Name, number>> {
  const counts = [before, now].filter((count) => count !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one key, of the given name
  return (counts.length === 0 ? {} : { [name]: Math.min(...counts) }) as Partial<Record<Name, number>>;
}

function heldPool(
  pool: NonNullable<Report["nodePools"]>[number],
  { nodePools = [] }: Report,
): NonNullable<Report["nodePools"]>[number] {
  const before = nodePools.find(({ component }) => component === pool.component);
  return {
    ...pool,
    ...fewer("ready", before?.ready, pool.ready),
    ...fewer("current", before?.current, pool.current),
  };
}

function heldNode(
  node: NonNullable<Report["nodes"]>[number],
  { nodes = [] }: Report,
): NonNullable<Report["nodes"]>[number] {
  const before = nodes.find(({ name }) => name === node.name);
  return node.member === true && before !== undefined && before.member !== true ? before : node;
}
