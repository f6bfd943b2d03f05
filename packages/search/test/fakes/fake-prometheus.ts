import type { QueryPrometheus } from "../../src/autoscaling/query-prometheus.ts";

/** A Prometheus of a cluster's own that answers as a test says; what it does not know is unknown. */
export class FakePrometheus {
  /** Server names and queries that it received, in order. */
  readonly requested: (readonly [serverName: string, query: string])[] = [];
  readonly responses = new Map<string, number>();

  readonly request: QueryPrometheus = async ({ tls }, queries) => {
    await Promise.resolve();
    this.requested.push(...queries.map((query) => [tls.serverName, query] as const));
    return new Map([...this.responses].filter(([query]) => queries.includes(query)));
  };
}
