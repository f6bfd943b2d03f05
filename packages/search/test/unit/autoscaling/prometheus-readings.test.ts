import { silentLog } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { PrometheusReadings } from "../../../src/autoscaling/prometheus-readings.ts";
import {
  type QueryPrometheus,
  type PrometheusTarget,
  prometheusTarget,
} from "../../../src/autoscaling/query-prometheus.ts";
import type { SearchCluster } from "../../../src/model/search-cluster.ts";
import { withQuerier } from "../../../src/monitoring/observe-monitoring.ts";
import type { Seen } from "../../../src/seen.ts";
import { aMonitoring, aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aPolicy } from "../../support/a-policy.ts";
import { aSeen } from "../../support/a-seen.ts";

const searches = { type: "Prometheus", query: "avg(searches)", target: 100 } as const;

function clusterOf(mode: "None" | "Standalone" = "Standalone"): SearchCluster {
  const monitoring = aMonitoring();
  return aSearchCluster({
    monitoring: { ...monitoring, stack: { ...monitoring.stack, mode } },
    pools: [aPool({ name: "data", autoscaling: aPolicy({ metrics: [searches] }) })],
  });
}

function seenOf(cluster = clusterOf(), prometheusAddress: string | undefined = "10.96.0.7"): Seen {
  const seen = aSeen({ cluster });
  return { ...seen, monitoring: { ...seen.monitoring, prometheusAddress } };
}

/** A Prometheus that answers when the test says. */
class Stage {
  ms = 0;
  readonly requested: (readonly [PrometheusTarget, readonly string[]])[] = [];
  #pending = Promise.withResolvers<ReadonlyMap<string, number>>();
  readonly #request: QueryPrometheus = async (target, queries) => {
    this.requested.push([target, queries]);
    return await this.#pending.promise;
  };
  readonly readings = new PrometheusReadings({
    system: { monotonicMs: () => this.ms },
    request: this.#request,
    log: silentLog,
  });

  async response(value: number | undefined): Promise<void> {
    this.#pending.resolve(value === undefined ? new Map() : new Map([[searches.query, value]]));
    this.#pending = Promise.withResolvers();
    await new Promise(setImmediate);
  }

  of(): unknown {
    const found = this.readings.of("1f2e");
    return found === undefined ? undefined : [...found];
  }
}

describe("whom to ask", () => {
  test("the cluster's own Service, known by the cluster's own CA, and no one that an author names", () => {
    const seen = seenOf();
    expect(prometheusTarget(seen)).toEqual({
      endpoint: { node: "logs-prometheus", host: "10.96.0.7", port: 9090 },
      tls: {
        caPem: seen.material.ca.pair?.certificatePem,
        serverName: "logs-prometheus.team.svc",
        client: undefined,
      },
    });
  });

  test("no one without a stack of its own, an address or a CA", () => {
    const seen = seenOf();
    const { ca } = seen.material;
    const blind = { ...seen.material, ca: { ...ca, pair: undefined } };
    expect(prometheusTarget(seenOf(clusterOf("None")))).toBeUndefined();
    expect(
      prometheusTarget({ ...seen, monitoring: { ...seen.monitoring, prometheusAddress: undefined } }),
    ).toBeUndefined();
    expect(prometheusTarget({ ...seen, material: blind })).toBeUndefined();
  });
});

test("the NetworkPolicy of Prometheus lets the operator in only where a pool has a query", () => {
  const requesting = withQuerier(clusterOf(), "quartermaster");
  expect(requesting.monitoring?.stack.queriedFrom).toBe("quartermaster");
  expect(withQuerier(clusterOf(), undefined).monitoring?.stack.queriedFrom).toBeUndefined();
  const silent = aSearchCluster({ monitoring: aMonitoring() });
  expect(withQuerier(silent, "quartermaster")).toBe(silent);
});

describe("readings", () => {
  test("are requested once at a time, each half a minute, and no one waits for them", async () => {
    const stage = new Stage();
    stage.readings.refresh(seenOf());
    stage.ms += 60_000;
    stage.readings.refresh(seenOf());
    expect(stage.requested.map(([, queries]) => queries)).toEqual([[searches.query]]);
    expect(stage.of()).toBeUndefined();
    await stage.response(7);
    expect(stage.of()).toEqual([[searches.query, 7]]);
    stage.readings.refresh(seenOf());
    expect(stage.requested).toHaveLength(2);
    await stage.response(8);
    stage.ms += 5_000;
    stage.readings.refresh(seenOf());
    expect(stage.requested).toHaveLength(2);
  });

  test("[search/SC-90] of a Prometheus that falls silent do not live on", async () => {
    const stage = new Stage();
    stage.readings.refresh(seenOf());
    await stage.response(7);
    stage.ms += 30_000;
    stage.readings.refresh(seenOf());
    await stage.response(undefined);
    expect(stage.of()).toEqual([]);
  });

  test("[search/SC-90] that are older than a minute are none", async () => {
    const stage = new Stage();
    stage.readings.refresh(seenOf());
    await stage.response(7);
    stage.ms += 60_000;
    expect(stage.of()).toEqual([[searches.query, 7]]);
    stage.ms += 1;
    expect(stage.of()).toEqual([]);
  });

  test("[search/SC-90] without a Prometheus are none immediately", async () => {
    const stage = new Stage();
    stage.readings.refresh(seenOf(clusterOf("None")));
    await new Promise(setImmediate);
    expect(stage.requested).toEqual([]);
    expect(stage.of()).toEqual([]);
  });

  test("of a cluster that was forgotten, or needs them no more, are dropped, also if a response is still to come", async () => {
    const stage = new Stage();
    stage.readings.refresh(seenOf());
    stage.readings.refresh(seenOf(aSearchCluster()));
    await stage.response(7);
    expect(stage.of()).toBeUndefined();
  });
});
