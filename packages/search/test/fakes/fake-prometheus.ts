import type { AskPrometheus } from "../../src/autoscaling/ask-prometheus.ts";

/** A Prometheus of a cluster's own that answers as a test says; what it does not know is unknown. */
export class FakePrometheus {
  /** Server names and queries that it was asked, in order. */
  readonly asked: (readonly [serverName: string, query: string])[] = [];
  readonly answers = new Map<string, number>();

  readonly ask: AskPrometheus = async ({ tls }, queries) => {
    await Promise.resolve();
    this.asked.push(...queries.map((query) => [tls.serverName, query] as const));
    return new Map([...this.answers].filter(([query]) => queries.includes(query)));
  };
}
