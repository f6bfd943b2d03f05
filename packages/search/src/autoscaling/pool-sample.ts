import type { NodeLoad } from "../engine/engine-facts.ts";
import {
  type MetricKey,
  metricKey,
  type MetricTarget,
  type MetricType,
} from "../model/autoscaling-policy.ts";

/** The load of a pool at one moment. */
export interface PoolSample {
  readonly atMs: number;
  /** Nodes that the pool had to have. */
  readonly nodes: number;
  /** Those of them without a value. */
  readonly missing: number;
  /** Averages of the others; a metric without values is omitted. */
  readonly values: Readonly<Partial<Record<MetricKey, number>>>;
}

/** So near to the target nothing changes. */
const tolerance = 0.1;

/** Divisions leave dust. */
const dust = 1e-9;

const percentages: ReadonlySet<MetricType> = new Set(["Cpu", "Heap", "Disk"]);

/** How many nodes one sample requests if the question is more, and if it is fewer. The metric that requests most wins. */
export function sampleResponse(
  sample: PoolSample,
  metrics: readonly MetricTarget[],
): { readonly up: number; readonly down: number } {
  const responses = metrics.map((metric) => metricResponse(sample, metric));
  return {
    up: Math.max(0, ...responses.map(({ up }) => up)),
    down: Math.max(...responses.map(({ down }) => down)),
  };
}

/** A node that is silent counts as idle when more are requested, and as full when fewer are. */
function metricResponse(
  { nodes, missing, values }: PoolSample,
  metric: MetricTarget,
): { readonly up: number; readonly down: number } {
  const value = values[metricKey(metric)];
  if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };
  const reported = value * (nodes - missing);
  const full = percentages.has(metric.type) ? Math.max(100, metric.target) : metric.target;
  return {
    up: nodesFor(reported, nodes, metric.target),
    down: nodesFor(reported + full * missing, nodes, metric.target),
  };
}

/** Nodes on which the total would be at the target. */
function nodesFor(total: number, nodes: number, target: number): number {
  const ratio = total / (nodes * target);
  return Math.abs(ratio - 1) <= tolerance + dust ? nodes : Math.ceil(total / target - dust);
}

export type Counters = ReadonlyMap<string, Pick<NodeLoad, "writeRejections"> & { readonly atMs: number }>;

/** Input of a sample besides the statistics of nodes. */
interface SampleInputs {
  readonly atMs: number;
  readonly before: Counters;
  /** Values of the cluster's own Prometheus. */
  readonly responses?: PoolSample["values"];
}

/** The sample of a pool from the statistics of its nodes; undefined for a pool without nodes. */
export function poolSample(
  names: readonly string[],
  loads: readonly NodeLoad[],
  { atMs, before, responses = {} }: SampleInputs,
): PoolSample | undefined {
  if (names.length === 0) return undefined;
  const wanted = new Set(names);
  const reported = loads.filter(({ node }) => wanted.has(node));
  return {
    atMs,
    nodes: names.length,
    missing: names.length - reported.length,
    values: {
      ...responses,
      ...meanOf("Cpu", reported, ({ cpuPercent }) => cpuPercent),
      ...(reported.length === 0 ? {} : meansOf(reported)),
      ...meanOf("SearchQueue", reported, ({ searchQueue }) => searchQueue),
      ...meanOf("WriteRejections", reported, (load) => rejectionsAMinute(load, atMs, before)),
    },
  };
}

/** Disks are compared by their totals: a large one that is empty makes up for a small one that is full. A part says nothing of the whole. */
function diskOf(reported: readonly NodeLoad[]): PoolSample["values"] {
  const totals = reported.flatMap(({ diskTotalBytes }) => diskTotalBytes ?? []);
  const frees = reported.flatMap(({ diskFreeBytes }) => diskFreeBytes ?? []);
  const [disk, free] = [sum(totals), sum(frees)];
  const isKnown = totals.length === reported.length && frees.length === reported.length && disk > 0;
  return isKnown ? { Disk: (100 * Math.max(0, disk - free)) / disk } : {};
}

function meansOf(reported: readonly NodeLoad[]): PoolSample["values"] {
  return {
    Heap: mean(reported.map(({ heapPercent }) => heapPercent)),
    ...diskOf(reported),
    ShardsPerNode: mean(reported.map(({ shards }) => shards)),
  };
}

/** Of a metric that not every node tells: a part says nothing of the whole. */
function meanOf(
  type: Exclude<MetricType, "Prometheus">,
  reported: readonly NodeLoad[],
  read: (load: NodeLoad) => number | undefined,
): PoolSample["values"] {
  const values = reported.flatMap((load) => read(load) ?? []);
  return values.length === 0 || values.length < reported.length ? {} : { [type]: mean(values) };
}

/** A counter that is smaller than before belongs to a process that was started since. */
function rejectionsAMinute(
  { node, writeRejections }: NodeLoad,
  atMs: number,
  before: Counters,
): number | undefined {
  const last = before.get(node);
  if (writeRejections === undefined || last?.writeRejections === undefined || atMs <= last.atMs)
    return undefined;
  const grown =
    writeRejections < last.writeRejections ? writeRejections : writeRejections - last.writeRejections;
  return (grown * 60_000) / (atMs - last.atMs);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
