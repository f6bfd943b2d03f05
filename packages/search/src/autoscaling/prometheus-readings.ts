import type { Log, System } from "@quartermaster/runtime";

import { queriesOf } from "../model/autoscaling-policy.ts";
import type { Seen } from "../seen.ts";
import { type QueryPrometheus, prometheusTarget } from "./query-prometheus.ts";

/** Results of the last round of a cluster's queries, and whether one is in progress. */
interface Reading {
  readonly requestedMs: number;
  readonly isQuerying: boolean;
  /** Undefined before the first round has ended. */
  readonly responses: { readonly values: ReadonlyMap<string, number>; readonly atMs: number } | undefined;
}

/** How readings are taken. */
export interface ReadingOptions {
  readonly system: Pick<System, "monotonicMs">;
  readonly request: QueryPrometheus;
  readonly log: Log;
  /** Shortest time from one round to the next (default: 30 s). */
  readonly everyMs?: number | undefined;
}

type Queried = Pick<Seen, "cluster" | "material" | "monitoring">;

const nothing: ReadonlyMap<string, number> = new Map();

/** A sampler's interval is never shorter, but its clock may be. */
const slack = 0.9;

/** Last values of each cluster's own Prometheus. Queried beside the samples of engines, which never wait for it. */
export class PrometheusReadings {
  readonly #options: ReadingOptions;
  readonly #everyMs: number;
  readonly #clusters = new Map<string, Reading>();

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? 30_000;
  }

  /** Results by query; undefined before the first query, empty when they are too old. */
  of(uid: string): ReadonlyMap<string, number> | undefined {
    const { responses } = this.#clusters.get(uid) ?? {};
    if (responses === undefined) return undefined;
    const { system } = this.#options;
    return system.monotonicMs() - responses.atMs <= 2 * this.#everyMs ? responses.values : nothing;
  }

  /** Queries, unless the cluster has no queries, was queried a short while ago or still owes a response. */
  refresh(seen: Queried): void {
    const { uid, pools } = seen.cluster;
    const queries = queriesOf(pools);
    if (queries.length === 0) {
      this.forget(uid);
      return;
    }
    const { system } = this.#options;
    const known = this.#clusters.get(uid);
    const nowMs = system.monotonicMs();
    if (known !== undefined && (known.isQuerying || nowMs - known.requestedMs < this.#everyMs * slack))
      return;
    const reading: Reading = { requestedMs: nowMs, isQuerying: true, responses: known?.responses };
    this.#clusters.set(uid, reading);
    void this.#round(reading, seen, queries);
  }

  forget(uid: string): void {
    this.#clusters.delete(uid);
  }

  async #round(reading: Reading, seen: Queried, queries: readonly string[]): Promise<void> {
    const values = await this.#responses(seen, queries);
    const { uid } = seen.cluster;
    // Otherwise it was forgotten meanwhile.
    if (this.#clusters.get(uid) !== reading) return;
    const responses = { values, atMs: this.#options.system.monotonicMs() };
    this.#clusters.set(uid, { ...reading, isQuerying: false, responses });
  }

  async #responses(seen: Queried, queries: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const target = prometheusTarget(seen);
    try {
      return target === undefined ? nothing : await this.#options.request(target, queries);
    } catch (error) {
      this.#options.log.error("queries of a Prometheus failed", { err: error });
      return nothing;
    }
  }
}
