import { type ListedMutant, listOf } from "./listed-mutant.ts";

/** Of auto-scaling. */
export const autoscalingMutants: readonly ListedMutant[] = listOf("search", [
  [
    "samples that stopped go unnoticed",
    "const times = [...samples.map(({ atMs }) => Math.max(atMs, beginMs)), nowMs];",
    "const times = samples.map(({ atMs }) => Math.max(atMs, beginMs));",
  ],
  [
    "a pool shrinks below minReplicas",
    "const recommendation = Math.max(wanted, policy.minReplicas, floor);",
    "const recommendation = Math.max(wanted, floor);",
  ],
  [
    "a pool shrinks below what the copies need",
    "const floor = Math.min(current, facts.indexFloor ?? 0);",
    "const floor = 0;",
  ],
  [
    "a metric that no one tells lets nodes go",
    'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
    'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : 0 };',
  ],
  [
    "a silent Prometheus asks for nodes",
    'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
    'if (value === undefined) return { up: metric.type === "Prometheus" ? nodes + 1 : 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
  ],
  [
    "all queries are one",
    'return type === "Prometheus" ? queryKey(query) : type;',
    'return type === "Prometheus" ? queryKey("avg(rate)") : type;',
  ],
  ["too few nodes by rounding", "Math.ceil(total / target - dust);", "Math.round(total / target - dust);"],
  [
    "the first metric wins",
    "up: Math.max(0, ...responses.map(({ up }) => up)),",
    "up: responses[0]?.up ?? 0,",
  ],
  ["negative answers count", "if (!/^\\d+(?:", "if (!/^-?\\d+(?:"],
  [
    "queries without a stack of the cluster's own are accepted",
    'const hasNoResponse = mode !== "Standalone" && queriesOf([pool]).length > 0;',
    "const hasNoResponse = mode === undefined && queriesOf([pool]).length > 0;",
  ],
  [
    "a forged target is believed",
    "return withinLimits(row?.target ?? replicas, autoscaling);",
    "return row?.target ?? replicas;",
  ],
  [
    "a recommendation is carried out",
    'if (autoscaling?.mode !== "Auto" || isManagerPool(pool)) return replicas;',
    "if (autoscaling === undefined || isManagerPool(pool)) return replicas;",
  ],
  [
    "every sample starts a reconcile",
    "return this.#rows({ ...kept.seen, engine, autoscaling: this.of(uid) }) !== kept.reported;",
    "return this.#rows({ ...kept.seen, engine, autoscaling: this.of(uid) }) !== undefined;",
  ],
  [
    "a new operator takes back what was said before it",
    "const isBlind = samples.length === 0 && seen.autoscaling.hasJustBegun;",
    "const isBlind = false;",
  ],
]);
