import type { System } from "@quartermaster/runtime";
import type { buildConnector } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";

import type { EngineEndpoint, EngineTls } from "../engine/engine-client.ts";
import { exchange, type WireRequest } from "../engine/exchange.ts";
import { type EngineDial, openConnection } from "../engine/open-connection.ts";
import { readQueryAnswer } from "./read-query-answer.ts";

/** Where a cluster's own Prometheus is, and by what it is known. Nothing of it comes from an author. */
export interface PrometheusTarget {
  readonly endpoint: EngineEndpoint;
  readonly tls: EngineTls;
}

/** Asks queries and answers with the numbers that there are; a query that is not in the answer is unknown. Never rejects. */
export type AskPrometheus = (
  target: PrometheusTarget,
  queries: readonly string[],
) => Promise<ReadonlyMap<string, number>>;

/** How it is reached. */
export interface AskOptions {
  readonly system: Pick<System, "setTimer" | "monotonicMs">;
  /** Default: TCP to the address. */
  readonly dial?: EngineDial | undefined;
  /** Longest time of one query (default: 5 s). */
  readonly timeoutMs?: number | undefined;
}

const answerLimitBytes = 64 * 1024;

/** Of all queries of a cluster; those whose turn does not come are unknown. */
const roundLimitMs = 20_000;

/** Asks over verified TLS, one query after the other on one connection, which ends with the last. Follows no redirect. */
export function askPrometheus({ timeoutMs = 5_000, ...options }: AskOptions): AskPrometheus {
  const { system } = options;
  return async (target, queries) => {
    const pool = poolFor(target, options);
    const endMs = system.monotonicMs() + roundLimitMs;
    const answers = new Map<string, number>();
    for (const query of queries) {
      const leftMs = endMs - system.monotonicMs();
      if (leftMs <= 0) break;
      const limits = { system, timeoutMs: Math.min(timeoutMs, leftMs), answerLimitBytes };
      const value = readQueryAnswer(await exchange(pool, requestFor(target, query), limits));
      if (value !== undefined) answers.set(query, value);
    }
    await pool.destroy();
    return answers;
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

function poolFor({ endpoint, tls }: PrometheusTarget, options: Omit<AskOptions, "timeoutMs">): Pool {
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
