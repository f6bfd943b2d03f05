import { type Mutant, mutantsOf } from "./mutant.ts";

const suite = { topic: "autoscaling", package: "search", level: "unit" } as const;

/** Of what decides how many nodes a pool has. Each would flap, starve a cluster or lose a copy. */
export const autoscalingMutants: readonly Mutant[] = [
  ...mutantsOf({ ...suite, tests: ["recommend"] }, [
    {
      name: "the greediest sample decides upon growth",
      find: "const more = Math.min(...(up?.samples ?? [])",
      replace: "const more = Math.max(...(up?.samples ?? [])",
    },
    {
      name: "the most modest sample decides upon a removal",
      find: "const fewer = Math.max(...(down?.samples ?? [])",
      replace: "const fewer = Math.min(...(down?.samples ?? [])",
    },
    {
      name: "a window counts as full from its first sample",
      find: 'return { samples, hole: first < 0 ? "WindowFilling" : undefined };',
      replace: "return { samples, hole: undefined };",
    },
    {
      name: "holes in a window go unnoticed",
      find: "if (samples.length === 0 || isTorn)",
      replace: "if (samples.length === 0)",
    },
    {
      name: "samples that stopped go unnoticed",
      find: "const times = [...samples.map(({ atMs }) => Math.max(atMs, beginMs)), nowMs];",
      replace: "const times = samples.map(({ atMs }) => Math.max(atMs, beginMs));",
    },
    {
      name: "what came long before the window counts",
      find: "const samples = all.slice(Math.max(0, first));",
      replace: "const samples = all;",
    },
    {
      name: "samples of the future count",
      find: "const known = samples.filter(({ atMs }) => atMs <= nowMs);",
      replace: "const known = samples;",
    },
    {
      name: "a pool grows beyond maxReplicas",
      find: "const recommendation = Math.min(wanted, policy.maxReplicas);",
      replace: "const recommendation = wanted;",
    },
    {
      name: "a pool shrinks below minReplicas",
      find: "const recommendation = Math.max(wanted, policy.minReplicas, floor);",
      replace: "const recommendation = Math.max(wanted, floor);",
    },
    {
      name: "a pool shrinks below what the copies need",
      find: "const floor = Math.min(current, facts.indexFloor ?? 0);",
      replace: "const floor = 0;",
    },
    {
      name: "more copies than nodes add nodes",
      find: "const floor = Math.min(current, facts.indexFloor ?? 0);",
      replace: "const floor = facts.indexFloor ?? 0;",
    },
    {
      name: "all nodes come at once",
      find: "const next = Math.min(recommendation, current + maxStep);",
      replace: "const next = recommendation;",
    },
    {
      name: "all nodes go at once",
      find: "const next = Math.max(recommendation, current - maxStep);",
      replace: "const next = recommendation;",
    },
    {
      name: "nodes go while it is not green",
      find: '...(isGreen ? [] : (["NotGreen"] as const)),',
      replace: "",
    },
    {
      name: "nodes go while shards move",
      find: '...(isIdle ? [] : (["NotIdle"] as const)),',
      replace: "",
    },
    {
      name: "nodes go although nobody knows the copies",
      find: '...(indexFloor === undefined ? (["IndexReplicasUnknown"] as const) : []),',
      replace: "",
    },
    {
      name: "a refused removal is tried again at once",
      find: '...(isRefused ? (["ScaleDownRefused"] as const) : []),',
      replace: "",
    },
    {
      name: "nodes that have just come go again",
      find: " || isCooling(facts.lastScaleUpMs, cooldownMs, nowMs);",
      replace: ";",
    },
    {
      name: "a cooldown that has ended holds on",
      find: "nowMs - sinceMs < cooldownMs;",
      replace: "nowMs - sinceMs <= cooldownMs;",
    },
    {
      name: "a growth has no cooldown",
      find: '...(isCooling(facts.lastScaleUpMs, cooldownMs, nowMs) ? (["Cooldown"] as const) : []),',
      replace: "",
    },
    {
      name: "a silent node counts as idle when nodes go",
      find: "down: nodesFor(told + full * missing, nodes, metric.target),",
      replace: "down: nodesFor(told, nodes, metric.target),",
    },
    {
      name: "a metric that nobody tells lets nodes go",
      find: 'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
      replace:
        'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : 0 };',
    },
    {
      name: "a silent Prometheus counts for the nodes that there were",
      find: 'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
      replace: "if (value === undefined) return { up: 0, down: nodes };",
    },
    {
      name: "a silent Prometheus asks for nodes",
      find: 'if (value === undefined) return { up: 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
      replace:
        'if (value === undefined) return { up: metric.type === "Prometheus" ? nodes + 1 : 0, down: metric.type === "Prometheus" ? Infinity : nodes };',
    },
    {
      name: "all queries are one",
      find: 'return type === "Prometheus" ? queryKey(query) : type;',
      replace: 'return type === "Prometheus" ? queryKey("avg(rate)") : type;',
    },
    {
      name: "a silent Prometheus is not told",
      find: 'return isSilent && fewer < current ? ["PrometheusSilent"] : [];',
      replace: "return [];",
    },
    {
      name: "a silent Prometheus is blamed for what others need",
      find: 'return isSilent && fewer < current ? ["PrometheusSilent"] : [];',
      replace: 'return isSilent ? ["PrometheusSilent"] : [];',
    },
    {
      name: "the status tells more nodes than a number of it can be",
      find: "recommendation: Math.min(mostNodes, wantedBy([metric], { up, down, current })),",
      replace: "recommendation: wantedBy([metric], { up, down, current }),",
    },
    {
      name: "there is no tolerance",
      find: "Math.abs(ratio - 1) <= tolerance + dust ?",
      replace: "Math.abs(ratio - 1) <= dust ?",
    },
    {
      name: "too few nodes by rounding",
      find: "Math.ceil(total / target - dust);",
      replace: "Math.round(total / target - dust);",
    },
    {
      name: "the first metric wins",
      find: "up: Math.max(0, ...answers.map(({ up }) => up)),",
      replace: "up: answers[0]?.up ?? 0,",
    },
  ]),
  ...mutantsOf({ ...suite, tests: ["ask-prometheus", "prometheus-readings", "autoscaling-policy"] }, [
    {
      name: "an answer with an error counts",
      find: 'if (end.kind === "failure" || end.status !== 200) return undefined;',
      replace: 'if (end.kind === "failure") return undefined;',
    },
    {
      name: "an endless answer counts",
      find: "return Number.isFinite(value) ? Math.min(value, Number.MAX_SAFE_INTEGER) : undefined;",
      replace: "return Math.min(value, Number.MAX_SAFE_INTEGER);",
    },
    {
      name: "negative answers count",
      find: String.raw`if (!/^\d+(?:`,
      replace: String.raw`if (!/^-?\d+(?:`,
    },
    {
      name: "an old answer holds on",
      find: "return system.monotonicMs() - answers.atMs <= 2 * everyMs ? answers.values : nothing;",
      replace: "return answers.values;",
    },
    {
      name: "a Prometheus of somebody else's is asked",
      find: "if (!isOwn || authority === undefined || host === undefined) return undefined;",
      replace: "if (authority === undefined || host === undefined) return undefined;",
    },
    {
      name: "a second round begins before the first has ended",
      find: "if (known !== undefined && (known.isAsking || nowMs - known.askedMs < everyMs * slack)) return;",
      replace: "if (known !== undefined && nowMs - known.askedMs < everyMs * slack) return;",
    },
    {
      name: "queries without a stack of the cluster's own are accepted",
      find: 'const isUnanswered = mode !== "Standalone" && queriesOf([pool]).length > 0;',
      replace: "const isUnanswered = mode === undefined && queriesOf([pool]).length > 0;",
    },
  ]),
  ...mutantsOf(
    { ...suite, tests: ["autoscaling-lane", "autoscaling-policy", "sample-windows", "volume-growth"] },
    [
      {
        name: "a forged target is believed",
        find: "return withinLimits(row?.target ?? replicas, autoscaling);",
        replace: "return row?.target ?? replicas;",
      },
      {
        name: "a recommendation is carried out",
        find: 'if (autoscaling?.mode !== "Auto" || isManagerPool(pool)) return replicas;',
        replace: "if (autoscaling === undefined || isManagerPool(pool)) return replicas;",
      },
      {
        name: "managers are scaled",
        find: 'if (autoscaling?.mode !== "Auto" || isManagerPool(pool)) return replicas;',
        replace: 'if (autoscaling?.mode !== "Auto") return replicas;',
      },
      {
        name: "a refused removal is not taken back",
        find: "if (refusal !== undefined) return refused(refusal, pool, { answer, seen });",
        replace: "",
      },
      {
        name: "an open operation counts as idle",
        find: "if (status.operation !== undefined || !engine.health.isKnown) return false;",
        replace: "if (!engine.health.isKnown) return false;",
      },
      {
        name: "a pool that is still growing counts as idle",
        find: "cluster.pools.every((pool) => placesOf(seen, pool) === pool.replicas) && nodes === wanted;",
        replace: "nodes === wanted;",
      },
      {
        name: "every sample starts a reconcile",
        find: "return this.#rows({ ...kept.seen, engine, autoscaling: this.of(uid) }) !== kept.told;",
        replace: "return this.#rows({ ...kept.seen, engine, autoscaling: this.of(uid) }) !== undefined;",
      },
      {
        name: "one answer of the engine counts twice",
        find: "if (!nodeLoad.isKnown || nodeLoad.atMs === this.#loadMs) return;",
        replace: "if (!nodeLoad.isKnown) return;",
      },
      {
        name: "a new operator takes back what was said before it",
        find: "const isBlind = samples.length === 0 && seen.autoscaling.hasJustBegun;",
        replace: "const isBlind = false;",
      },
      {
        name: "volumes grow again before they have grown",
        find: "if (hole !== undefined || !isFull || isGrowing || isCooling) return { sizeBytes, isFirst: true };",
        replace: "if (hole !== undefined || !isFull || isCooling) return { sizeBytes, isFirst: true };",
      },
      {
        name: "volumes grow beyond their limit",
        find: "return { sizeBytes: Math.min(mostBytes, grown), isFirst: true };",
        replace: "return { sizeBytes: grown, isFirst: true };",
      },
      {
        name: "a forged size is believed",
        find: "return Math.min(decided, pool.autoscaling?.storage?.maxBytes ?? 0);",
        replace: "return decided;",
      },
      {
        name: "a Prometheus that was not asked yet counts as silent",
        find: "if (queries.length > 0 && answers === undefined) continue;",
        replace: "",
      },
      {
        name: "old news of copies holds for ever",
        find: "const isFresh = copies !== undefined && nowMs - copies.atMs < copiesForMs;",
        replace: "const isFresh = copies !== undefined;",
      },
    ],
  ),
];
