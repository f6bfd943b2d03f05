import type { DomainSeries, ReconcileEvent } from "@quartermaster/runtime";

import type { PoolTarget } from "./autoscaling/sample-windows.ts";
import { type EngineCall, engineCalls } from "./engine/engine-client.ts";
import { type EngineErrorCode, engineErrorCodes } from "./engine/engine-error.ts";
import type { LicenseResult } from "./license/license-attempts.ts";

/** Hooks for metrics, called by whatever they are named for. All are optional, must be quick and must not throw. */
export interface SearchObserver {
  engineCalled?(call: EngineCall, result: "ok" | EngineErrorCode): void;
  eventRecorded?(event: ReconcileEvent): void;
  licenseTried?(outcome: LicenseResult["outcome"]): void;
  /** Called once by each controller, with a way to read what auto-scaling has decided. */
  targetsReadable?(read: () => readonly PoolTarget[]): void;
  clusterReported?(cluster: { readonly uid: string; readonly name: string }, isStalled: boolean): void;
  clusterForgotten?(uid: string): void;
}

/** Names become labels within a limit; what is beyond it is added up under one. */
const bounded = { atMost: 1000 } as const;

/** Action of an event that is counted, and the type that it is counted as. */
const operations = {
  RestartNode: "restart",
  RepairNode: "repair",
  RemoveNode: "remove",
  RemovePool: "remove-pool",
} as const;

/** Registers every series of the domain. A new one is registered here, with its hook, and called where it happens. */
export function searchMetrics(series: DomainSeries): Required<SearchObserver> {
  const countCall = series.counter({
    name: "quartermaster_search_engine_requests_total",
    help: "Requests to search engines by call and result",
    labels: { call: engineCalls, result: ["ok", ...engineErrorCodes] },
  });
  const countOperation = series.counter({
    name: "quartermaster_search_operations_total",
    help: "Nodes of search clusters that were restarted, repaired or removed, and pools that were removed",
    labels: { type: Object.values(operations) },
  });
  const countLicense = series.counter({
    name: "elastic_license_apply_total",
    help: "Attempts to apply a license, or to start a trial or basic one, by result",
    labels: { result: ["applied", "rejected", "failed"] },
  });
  return {
    ...targetMetrics(series),
    ...stalledMetrics(series),
    engineCalled: (call, result) => {
      countCall({ call, result });
    },
    eventRecorded: ({ type, action }) => {
      const name = Object.entries(operations).find(([known]) => known === action)?.[1];
      // A warning accompanies an operation that is counted when it ends.
      if (name !== undefined && type === "Normal") countOperation({ type: name });
    },
    licenseTried: (result) => {
      countLicense({ result });
    },
  };
}

function targetMetrics(series: DomainSeries): Required<Pick<SearchObserver, "targetsReadable">> {
  const sources: (() => readonly PoolTarget[])[] = [];
  series.gauge(
    {
      name: "quartermaster_search_autoscaling_target",
      help: "Nodes that auto-scaling has decided a pool of a search cluster has to have",
      labels: { pool: bounded },
    },
    () => sources.flatMap((read) => read().map(({ target, ...labels }) => ({ labels, value: target }))),
  );
  return {
    targetsReadable: (read) => {
      sources.push(read);
    },
  };
}

/** Clusters that only a user can help, as `namespace/name`. */
function stalledMetrics(
  series: DomainSeries,
): Required<Pick<SearchObserver, "clusterReported" | "clusterForgotten">> {
  const states = new Map<string, { readonly name: string; readonly isStalled: boolean }>();
  series.gauge(
    {
      name: "quartermaster_search_cluster_stalled",
      help: "Whether the operator cannot continue with a search cluster until a user acts",
      labels: { cluster: bounded },
    },
    () =>
      [...states.values()].map(({ name, isStalled }) => ({
        labels: { cluster: name },
        value: isStalled ? 1 : 0,
      })),
  );
  return {
    clusterReported: ({ uid, name }, isStalled) => {
      states.set(uid, { name, isStalled });
    },
    clusterForgotten: (uid) => {
      states.delete(uid);
    },
  };
}
