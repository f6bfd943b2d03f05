import type { System } from "@quartermaster/runtime";
import type { buildConnector } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { z } from "zod";

import type { EngineEndpoint, EngineTls } from "../engine/engine-client.ts";
import { type Exchange, exchange, type WireRequest } from "../engine/exchange.ts";
import { type EngineDial, openConnection } from "../engine/open-connection.ts";
import { stackPorts } from "../monitoring/prometheus-files.ts";
import type { Seen } from "../seen.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";

/** Where a cluster's own Prometheus is, and by what it is known. Nothing of it comes from an author. */
export interface PrometheusTarget {
  readonly endpoint: EngineEndpoint;
  readonly tls: EngineTls;
}

/** Sends queries and returns the numbers; a query that is not in the response is unknown. Never rejects. */
export type QueryPrometheus = (
  target: PrometheusTarget,
  queries: readonly string[],
) => Promise<ReadonlyMap<string, number>>;

/** How it is reached. */
export interface QueryOptions {
  readonly system: Pick<System, "setTimer" | "monotonicMs">;
  /** Default: TCP to the address. */
  readonly dial?: EngineDial | undefined;
  /** Longest time of one query (default: 5 s). */
  readonly timeoutMs?: number | undefined;
}

const responseLimitBytes = 64 * 1024;

/** Of all queries of a cluster; those whose turn does not come are unknown. */
const roundLimitMs = 20_000;

/** Queries over verified TLS, one query after the other on one connection, which ends with the last. Follows no redirect. */
export function queryPrometheus({ timeoutMs = 5_000, ...options }: QueryOptions): QueryPrometheus {
  const { system } = options;
  return async (target, queries) => {
    const pool = poolFor(target, options);
    const endMs = system.monotonicMs() + roundLimitMs;
    const responses = new Map<string, number>();
    for (const query of queries) {
      const leftMs = endMs - system.monotonicMs();
      if (leftMs <= 0) break;
      const limits = { system, timeoutMs: Math.min(timeoutMs, leftMs), responseLimitBytes };
      const value = readQueryResponse(await exchange(pool, requestFor(target, query), limits));
      if (value !== undefined) responses.set(query, value);
    }
    await pool.destroy();
    return responses;
  };
}

/** Its own limits come before ours: two series are as unknown as many. */
function requestFor({ endpoint, tls }: PrometheusTarget, query: string): WireRequest {
  const fields = new URLSearchParams({ query, timeout: "4s", limit: "2" });
  return {
    origin: originOf(endpoint),
    method: "GET",
    path: `/api/v1/query?${fields.toString()}`,
    headers: { accept: "application/json", host: `${tls.serverName}:${String(endpoint.port)}` },
    body: undefined,
  };
}

function poolFor({ endpoint, tls }: PrometheusTarget, options: Omit<QueryOptions, "timeoutMs">): Pool {
  const connect = async (done: buildConnector.Callback): Promise<void> => {
    try {
      done(null, await openConnection(endpoint, tls, options));
    } catch (error) {
      done(error instanceof Error ? error : new Error("no connection"), null);
    }
  };
  return new Pool(originOf(endpoint), {
    connections: 1,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) => {
      void connect(done);
    },
  });
}

function originOf({ host, port }: EngineEndpoint): string {
  return `https://${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
}

/**
 * The cluster's own Prometheus: our Service, known by a certificate of the cluster's own CA. It holds metrics of this cluster
 * alone, so a query cannot read those of others. Undefined while there is none.
 */
export function prometheusTarget({
  cluster,
  material,
  monitoring,
}: Pick<Seen, "cluster" | "material" | "monitoring">): PrometheusTarget | undefined {
  const { pair: ca } = material.ca;
  const { prometheusAddress: host } = monitoring;
  const isOwn = cluster.monitoring?.stack.mode === "Standalone";
  if (!isOwn || ca === undefined || host === undefined) return undefined;
  const name = monitoringNames(cluster).stack.prometheus;
  return {
    endpoint: { node: name, host, port: stackPorts.prometheus },
    tls: {
      caPem: ca.certificatePem,
      serverName: `${name}.${cluster.namespace}.svc`,
      client: undefined,
    },
  };
}

/** A moment, and a number as Prometheus writes it: in quotes. */
const point = z.tuple([z.number(), z.string().max(64)]);

const decision = z.object({
  status: z.literal("success"),
  data: z.discriminatedUnion("resultType", [
    z.object({ resultType: z.literal("scalar"), result: point }),
    z.object({ resultType: z.literal("vector"), result: z.tuple([z.object({ value: point })]) }),
  ]),
});

/**
 * The one number of a Prometheus response: finite and not negative. Undefined for everything else, errors too: what is not
 * known is never 0.
 */
function readQueryResponse(end: Exchange): number | undefined {
  if (end.kind === "failure" || end.status !== 200) return undefined;
  const { success, data } = decision.safeParse(jsonIn(end.body));
  if (!success) return undefined;
  const { data: found } = data;
  return numberIn(found.resultType === "scalar" ? found.result[1] : found.result[0].value[1]);
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** `NaN`, `+Inf` and `-Inf` are no numbers to size a pool by. Beyond what can be counted exactly, more is the same. */
function numberIn(text: string): number | undefined {
  if (!/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? Math.min(value, Number.MAX_SAFE_INTEGER) : undefined;
}
