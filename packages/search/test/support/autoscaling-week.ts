import type { PoolSample } from "../../src/autoscaling/pool-sample.ts";
import { recommend } from "../../src/autoscaling/recommend.ts";
import type { AutoscalingPolicy } from "../../src/model/autoscaling-policy.ts";
import { aPolicy } from "./a-policy.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A day in milliseconds. */
export const dayMs = 24 * hourMs;

const stepMs = 30_000;
const joinMs = 3 * minuteMs;
const drainMs = 10 * minuteMs;

/** Above this share of their disks the others have no room for the shards of a node: `removalPrecheck`. */
const fullestPercent = 0.95 * 85;

export interface LoadCurve {
  readonly name: string;
  /** CPU of all nodes together in percent of one node. */
  readonly cpu: (atMs: number) => number;
  /** Disk of all nodes together in percent of one node's. */
  readonly disk: (atMs: number) => number;
  /** Nothing is heard of the engine. */
  readonly isLost?: (atMs: number) => boolean;
  /** Nodes that say nothing. */
  readonly silent?: (atMs: number) => number;
}

/** A moment of the week. */
export interface Moment {
  readonly atMs: number;
  /** Nodes that the load would need at its target. */
  readonly needed: number;
  readonly recommendation: number;
  /** Nodes that the pool has to have. */
  readonly target: number;
  /** Nodes that are there. */
  readonly nodes: number;
  readonly isLost: boolean;
}

/** A week, each half minute. */
export interface Week {
  readonly name: string;
  readonly moments: readonly Moment[];
  /** Nodes were taken away although a drain would have been refused. */
  readonly refusedDrains: number;
  readonly overloaded: number;
}

/** Two metrics and the standard pace. */
export const weekPolicy: AutoscalingPolicy = aPolicy({
  maxReplicas: 12,
  metrics: [
    { type: "Cpu", target: 60 },
    { type: "Disk", target: 70 },
  ],
});

/** A little noise, the same in every run. */
function noise(atMs: number): number {
  const mixed = Math.imul((atMs / stepMs) ^ 0x9e3779b9, 0x85ebca6b);
  return (((mixed ^ (mixed >>> 13)) >>> 0) % 1000) / 1000 - 0.5;
}

function dayAndNight(atMs: number): number {
  const hour = (atMs % dayMs) / hourMs;
  const share = 0.5 - 0.5 * Math.cos((2 * Math.PI * (hour - 3)) / 24);
  return (120 + 330 * share) * (1 + 0.08 * noise(atMs));
}

function isWithin(atMs: number, startMs: number, lengthMs: number): boolean {
  return atMs >= startMs && atMs < startMs + lengthMs;
}

/** The weeks that are run. */
export const curves: readonly LoadCurve[] = [
  { name: "day and night", cpu: dayAndNight, disk: () => 120 },
  {
    name: "spikes: a minute on Tuesday, an hour on Thursday",
    cpu: (atMs) => {
      const isShort = isWithin(atMs, dayMs + 10 * hourMs, minuteMs);
      const isLong = isWithin(atMs, 3 * dayMs + 10 * hourMs, hourMs);
      return (isShort || isLong ? 520 : 170) * (1 + 0.05 * noise(atMs));
    },
    disk: () => 120,
  },
  {
    name: "disks fill slowly",
    cpu: (atMs) => 150 * (1 + 0.05 * noise(atMs)),
    disk: (atMs) => 120 + (420 * atMs) / (7 * dayMs),
  },
  {
    name: "day and night, no samples from 20:00 to 02:00",
    cpu: dayAndNight,
    disk: () => 120,
    isLost: (atMs) => (atMs % dayMs) / hourMs >= 20 || (atMs % dayMs) / hourMs < 2,
  },
  {
    name: "day and night, a node is silent on Wednesday and Thursday",
    cpu: dayAndNight,
    disk: () => 120,
    silent: (atMs) => (isWithin(atMs, 2 * dayMs, 2 * dayMs) ? 1 : 0),
  },
];

interface Pool {
  target: number;
  nodes: number;
  /** When nodes that were requested are there, or the one that is removed no longer exists. */
  changeMs: number;
  upMs: number | undefined;
  downMs: number | undefined;
}

/** Runs a week in the time that its decisions take. Nodes come after three minutes and leave after a drain of ten. */
export function runWeek(curve: LoadCurve, policy: AutoscalingPolicy = weekPolicy): Week {
  const pool: Pool = { target: 4, nodes: 4, changeMs: 0, upMs: undefined, downMs: undefined };
  const moments: Moment[] = [];
  let samples: readonly PoolSample[] = [];
  let [refusedDrains, overloaded] = [0, 0];
  for (let atMs = 0; atMs < 7 * dayMs; atMs += stepMs) {
    if (pool.nodes !== pool.target && atMs >= pool.changeMs) pool.nodes = pool.target;
    const [cpu, disk] = [curve.cpu(atMs), curve.disk(atMs)];
    const isLost = curve.isLost?.(atMs) === true;
    if (!isLost) samples = [...samples.slice(-70), sampleOf(curve, pool, atMs)];
    const { target, recommendation } = recommend(samples, policy, { facts: factsOf(pool), nowMs: atMs });
    if (target < pool.target && disk / (pool.nodes - 1) > fullestPercent) refusedDrains += 1;
    follow(pool, target, atMs);
    if (cpu / pool.nodes > 100) overloaded += 1;
    const needed = Math.max(cpu / 60, disk / 70);
    moments.push({ atMs, needed, recommendation, target: pool.target, nodes: pool.nodes, isLost });
  }
  return { name: curve.name, moments, refusedDrains, overloaded };
}

function sampleOf(curve: LoadCurve, { target, nodes }: Pool, atMs: number): PoolSample {
  const silent = curve.silent?.(atMs) ?? 0;
  const there = Math.min(target, nodes);
  return {
    atMs,
    nodes: target,
    missing: target - there + silent,
    values: { Cpu: Math.min(100, curve.cpu(atMs) / nodes), Disk: Math.min(100, curve.disk(atMs) / nodes) },
  };
}

function factsOf({ target, nodes, upMs, downMs }: Pool): Parameters<typeof recommend>[2]["facts"] {
  return {
    replicas: target,
    isGreen: true,
    isIdle: nodes === target,
    indexFloor: 2,
    isRefused: false,
    growsVolumes: false,
    lastScaleUpMs: upMs,
    lastScaleDownMs: downMs,
  };
}

function follow(pool: Pool, target: number, atMs: number): void {
  if (target === pool.target) return;
  const isUp = target > pool.target;
  Object.assign(pool, {
    target,
    changeMs: atMs + (isUp ? joinMs : drainMs),
    ...(isUp ? { upMs: atMs } : { downMs: atMs }),
  });
}

/** How often the target turned from growing to shrinking or back, by day. */
export function turnsByDay({ moments }: Week): readonly number[] {
  const turns = Array.from({ length: 7 }, () => 0);
  let [last, direction] = [moments[0]?.target ?? 0, 0];
  for (const { atMs, target } of moments) {
    const way = Math.sign(target - last);
    const day = Math.floor(atMs / dayMs);
    if (way !== 0 && direction !== 0 && way !== direction) turns[day] = (turns[day] ?? 0) + 1;
    if (way !== 0) direction = way;
    last = target;
  }
  return turns;
}
