import type { DomainSeries } from "@quartermaster/runtime";

/** What is known of the clusters that the operator looks after. */
export interface ClusterStates {
  set(cluster: { readonly uid: string; readonly name: string }, isStalled: boolean): void;
  forget(uid: string): void;
}

/** Registers the series of clusters that only a person can help. Clusters are named as `namespace/name`, at most 1,000 of them. */
export function stalledMetrics(series: DomainSeries): ClusterStates {
  const states = new Map<string, { readonly name: string; readonly isStalled: boolean }>();
  series.gauge(
    {
      name: "quartermaster_search_cluster_stalled",
      help: "Whether the operator cannot go on with a search cluster until a person acts",
      labels: { cluster: { atMost: 1000 } },
    },
    () =>
      [...states.values()].map(({ name, isStalled }) => ({
        labels: { cluster: name },
        value: isStalled ? 1 : 0,
      })),
  );
  return {
    set: ({ uid, name }, isStalled) => {
      states.set(uid, { name, isStalled });
    },
    forget: (uid) => {
      states.delete(uid);
    },
  };
}
