import { canonicalJson, type System } from "@quartermaster/runtime";

import type { EngineFacts } from "../engine/engine-facts.ts";
import type { SampledFact } from "../engine/engine-sample.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import type { Seen } from "../seen.ts";
import { autoscalingRows } from "./autoscaling-lane.ts";
import { ClusterWindow } from "./cluster-window.ts";
import type { PoolSample } from "./pool-sample.ts";
import type { PrometheusReadings } from "./prometheus-readings.ts";

/** Input of a decision about the size of pools besides the engine. It is in memory only: a new operator starts without. */
export interface AutoscalingSeen {
  /** By the name of the pool, the oldest first. */
  readonly samples: ReadonlyMap<string, readonly PoolSample[]>;
  /** Copies of the shards of the index that has most of them; undefined while no one knows. */
  readonly mostCopies: number | undefined;
  /** The operator has just started: missing samples mean nothing yet. */
  readonly hasJustBegun: boolean;
  /** Pools whose volumes the API server has refused to grow a short while ago. */
  readonly refusedVolumes: ReadonlySet<string>;
}

/** Nothing is known. */
export const NO_SAMPLES: AutoscalingSeen = {
  samples: new Map(),
  mostCopies: undefined,
  hasJustBegun: false,
  refusedVolumes: new Set(),
};

/** How many nodes auto-scaling has decided that a pool has to have. */
export interface PoolTarget {
  /** `namespace/cluster/pool`. */
  readonly pool: string;
  readonly target: number;
}

/**
 * The facts that a cluster with auto-scaling is queried for in turn, one with each sample: never more than one request besides its health. How
 * many copies indices have changes seldom.
 */
export function autoscalingTurns({ pools }: Pick<SearchCluster, "pools">): readonly SampledFact[] {
  const isUsed = pools.some(({ autoscaling }) => autoscaling !== undefined);
  return isUsed ? ["nodeLoad", "indices", ...Array.from({ length: 8 }, () => "nodeLoad" as const)] : [];
}

type Readings = Pick<PrometheusReadings, "of" | "refresh" | "forget">;

const noReadings: Readings = { of: () => new Map(), refresh: () => undefined, forget: () => undefined };

const justBegun: AutoscalingSeen = { ...NO_SAMPLES, hasJustBegun: true };

/** Input and result of the last reconcile of a cluster. */
interface Kept {
  readonly window: ClusterWindow;
  readonly seen: Seen;
  readonly reported: string;
}

/** The load of pools over the last hour, in memory. After a restart of the operator it fills again before a node may go. */
export class SampleWindows {
  readonly #system: Pick<System, "wallMs">;
  readonly #readings: Readings;
  readonly #clusters = new Map<string, Kept>();

  constructor(system: Pick<System, "wallMs">, readings: Readings = noReadings) {
    this.#system = system;
    this.#readings = readings;
  }

  /** Present facts about a cluster. */
  of(uid: string): AutoscalingSeen {
    return this.#clusters.get(uid)?.window.seenAt(this.#system.wallMs()) ?? justBegun;
  }

  /** A reconcile has seen this. A cluster without auto-scaling is not kept. */
  keep(seen: Seen): void {
    const { uid, pools } = seen.cluster;
    const names = pools.filter(({ autoscaling }) => autoscaling !== undefined).map(({ name }) => name);
    if (names.length === 0) {
      this.forget(uid);
      return;
    }
    const window = this.#clusters.get(uid)?.window ?? new ClusterWindow(this.#system.wallMs());
    window.retain(names);
    this.#clusters.set(uid, { window, seen, reported: this.#rows(seen) });
  }

  /** Takes the engine's last sample. True: a reconcile would decide differently from the last one. */
  readonly take = (uid: string, engine: EngineFacts): boolean => {
    const kept = this.#clusters.get(uid);
    if (kept === undefined) return false;
    const { nodeLoad, indices } = engine;
    const facts = { nodeLoad, indices, responses: this.#readings.of(uid) };
    kept.window.take(kept.seen.cluster, facts, this.#system.wallMs());
    this.#readings.refresh(kept.seen);
    return this.#rows({ ...kept.seen, engine, autoscaling: this.of(uid) }) !== kept.reported;
  };

  /** Numbers of nodes of pools in mode Auto, by the last reconcile of each cluster. */
  readonly targets = (): readonly PoolTarget[] =>
    [...this.#clusters.values()].flatMap(({ seen: { cluster } }) =>
      cluster.pools
        .filter(({ autoscaling }) => autoscaling?.mode === "Auto")
        .map(({ name, replicas }) => ({
          pool: `${cluster.namespace}/${cluster.name}/${name}`,
          target: replicas,
        })),
    );

  /** The API server does not let the volumes of a pool grow. */
  refuseVolumes(uid: string, pool: string): void {
    this.#clusters.get(uid)?.window.refuseVolumes(pool, this.#system.wallMs());
  }

  forget(uid: string): void {
    this.#readings.forget(uid);
    this.#clusters.delete(uid);
  }

  /** The time of a change is that of the reconcile that makes it, and no part of the response. */
  #rows(seen: Seen): string {
    if (seen.status.clusterUuid === undefined) return "";
    const rows = autoscalingRows(seen, new Date(this.#system.wallMs()));
    return canonicalJson(
      rows.map(
        ({ lastScaleUpTime: _up, lastScaleDownTime: _down, lastVolumeGrowthTime: _grown, ...row }) => row,
      ),
    );
  }
}
