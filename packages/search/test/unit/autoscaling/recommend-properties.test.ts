import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { PoolSample } from "../../../src/autoscaling/pool-sample.ts";
import { type PoolFacts, recommend } from "../../../src/autoscaling/recommend.ts";
import { type AutoscalingPolicy, metricKey } from "../../../src/model/autoscaling-policy.ts";
import { nowMs } from "../../support/a-policy.ts";

const types = ["Cpu", "Heap", "Disk", "ShardsPerNode", "SearchQueue", "WriteRejections"] as const;

const queries = ["avg(a)", "__proto__"] as const;

const metrics = fc.oneof(
  fc.record({ type: fc.constantFrom(...types), target: fc.integer({ min: 1, max: 100 }) }),
  fc.record({
    type: fc.constant("Prometheus" as const),
    query: fc.constantFrom(...queries),
    target: fc.integer({ min: 1, max: 100 }),
  }),
);

const pace = fc.record({
  stabilizationMs: fc.integer({ min: 0, max: 600_000 }),
  maxStep: fc.integer({ min: 1, max: 5 }),
  cooldownMs: fc.integer({ min: 0, max: 600_000 }),
});

const policies: fc.Arbitrary<AutoscalingPolicy> = fc
  .record({
    limits: fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 })),
    metrics: fc.uniqueArray(metrics, {
      minLength: 1,
      maxLength: 4,
      selector: metricKey,
    }),
    scaleUp: pace,
    scaleDown: pace,
    storage: fc.constant(undefined),
  })
  .map(({ limits, ...rest }) => ({
    mode: "Auto",
    minReplicas: Math.min(...limits),
    maxReplicas: Math.max(...limits),
    ...rest,
  }));

const value = fc.double({ min: 0, max: 300, noNaN: true });

const samples: fc.Arbitrary<readonly PoolSample[]> = fc
  .array(
    fc.record({
      beforeMs: fc.integer({ min: 5_000, max: 110_000 }),
      nodes: fc.integer({ min: 1, max: 20 }),
      missing: fc.integer({ min: 0, max: 3 }),
      values: fc.record(
        {
          Cpu: value,
          Heap: value,
          Disk: value,
          ShardsPerNode: value,
          SearchQueue: value,
          WriteRejections: value,
          "Prometheus:avg(a)": value,
          "Prometheus:__proto__": value,
        },
        { requiredKeys: [] },
      ),
    }),
    { maxLength: 25 },
  )
  .map((rows) => {
    let atMs = nowMs;
    return rows
      .map(({ beforeMs, nodes, missing, values }) => {
        atMs -= beforeMs;
        return { atMs, nodes, missing: Math.min(missing, nodes), values };
      })
      .toReversed();
  });

const when = fc.option(fc.integer({ min: nowMs - 900_000, max: nowMs + 10_000 }), { nil: undefined });

const facts: fc.Arbitrary<PoolFacts> = fc.record({
  replicas: fc.integer({ min: 0, max: 25 }),
  isGreen: fc.boolean(),
  isIdle: fc.boolean(),
  indexFloor: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
  isRefused: fc.boolean(),
  growsVolumes: fc.boolean(),
  lastScaleUpMs: when,
  lastScaleDownMs: when,
});

const states = fc.record({ samples, policy: policies, facts });
type State = typeof states extends fc.Arbitrary<infer W> ? W : never;

const runs = { numRuns: 500 };

function response({ samples: given, policy, facts: known }: State): ReturnType<typeof recommend> {
  return recommend(given, policy, { facts: known, nowMs });
}

function startOf({ policy, facts: { replicas } }: State): number {
  return Math.max(policy.minReplicas, Math.min(policy.maxReplicas, replicas));
}

test("target and recommendation are whole numbers within the limits, one step away at most", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { policy } = state;
      const { target, recommendation } = response(state);
      for (const number of [target, recommendation]) {
        expect(Number.isInteger(number)).toBe(true);
        expect(number).toBeGreaterThanOrEqual(policy.minReplicas);
        expect(number).toBeLessThanOrEqual(policy.maxReplicas);
      }
      expect(target - startOf(state)).toBeLessThanOrEqual(policy.scaleUp.maxStep);
      expect(startOf(state) - target).toBeLessThanOrEqual(policy.scaleDown.maxStep);
    }),
    runs,
  );
});

test("fewer nodes only if it is green, idle, known, long ago, and the window is full; never below the floor of the copies", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { policy, facts: known, samples: given } = state;
      const { target } = response(state);
      if (target >= startOf(state)) return;
      expect(known.isGreen && known.isIdle && !known.isRefused).toBe(true);
      expect(target).toBeGreaterThanOrEqual(known.indexFloor ?? Number.POSITIVE_INFINITY);
      const beginMs = nowMs - policy.scaleDown.stabilizationMs;
      expect(given.some(({ atMs }) => atMs <= beginMs)).toBe(true);
      for (const sinceMs of [known.lastScaleUpMs, known.lastScaleDownMs])
        expect(nowMs - (sinceMs ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(
          policy.scaleDown.cooldownMs,
        );
    }),
    runs,
  );
});

test("[search/SC-90] while a query is silent in one sample of the window, no node goes", () => {
  fc.assert(
    fc.property(states, fc.nat(), (state, at) => {
      const { samples: given, policy } = state;
      const silent = given.at(-1 - (at % Math.max(1, given.length)));
      const isInside = silent !== undefined && silent.atMs >= nowMs - policy.scaleDown.stabilizationMs;
      if (!isInside || !policy.metrics.some(({ type }) => type === "Prometheus")) return;
      const { "Prometheus:avg(a)": _a, "Prometheus:__proto__": _b, ...rest } = silent.values;
      const holed = given.map((sample) => (sample === silent ? { ...sample, values: rest } : sample));
      expect(response({ ...state, samples: holed }).target).toBeGreaterThanOrEqual(startOf(state));
    }),
    runs,
  );
});

test("a client that gets other than recommended is told why, and no one else", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { target, recommendation, limitedBy } = response(state);
      expect(target === recommendation || limitedBy.length > 0).toBe(true);
      expect(limitedBy).toEqual([...new Set(limitedBy)].toSorted());
    }),
    runs,
  );
});

test("the same facts give the same answer, whatever order metrics have", () => {
  fc.assert(
    fc.property(states, (state) => {
      const { metrics: _metrics, ...first } = response(state);
      const turned = { ...state, policy: { ...state.policy, metrics: state.policy.metrics.toReversed() } };
      const { metrics: _turned, ...second } = response(turned);
      expect(second).toEqual(first);
    }),
    runs,
  );
});

test("more load never requests fewer nodes", () => {
  fc.assert(
    fc.property(states, fc.double({ min: 1, max: 3, noNaN: true }), (state, factor) => {
      const loaded = state.samples.map((sample) => ({
        ...sample,
        values: Object.fromEntries(
          Object.entries(sample.values).map(([type, had]) => [type, (had ?? 0) * factor]),
        ) as PoolSample["values"],
      }));
      expect(response({ ...state, samples: loaded }).recommendation).toBeGreaterThanOrEqual(
        response(state).recommendation,
      );
    }),
    runs,
  );
});

test("a sample less never means more change: what is missing requests nothing and allows nothing", () => {
  fc.assert(
    fc.property(states, (state) => {
      const start = startOf(state);
      const blind = {
        ...state,
        samples: state.samples.map((sample) => ({ ...sample, missing: sample.nodes })),
      };
      const { target } = response(blind);
      expect(target).toBeLessThanOrEqual(Math.max(start, response(state).target));
    }),
    runs,
  );
});
