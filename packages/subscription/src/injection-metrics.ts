import type { DomainSeries } from "@quartermaster/runtime";

import type { InjectionDecision } from "./injection/injection-decision.ts";
import { reasons } from "./reasons.ts";

/** Hooks of the pod webhook. */
export interface InjectionObserver {
  decided(
    outcome: Pick<InjectionDecision, "scope" | "reason"> & {
      readonly result: InjectionDecision["result"] | "error";
    },
  ): void;
  took(durationMs: number): void;
  resolved(source: "cache" | "live"): void;
  reviewed(result: "allowed" | "denied" | "error"): void;
}

/** From half a millisecond to five seconds, the longest that the API server waits. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Registers the series of the pod webhook; `keyEntries` is asked whenever the page is. No name of an object becomes a label. */
export function injectionMetrics(series: DomainSeries, keyEntries: () => number): InjectionObserver {
  const prefix = "quartermaster_subscription_injection";
  const seconds = series.histogram({
    name: `${prefix}_duration_seconds`,
    help: "Time to decide upon a pod",
    buckets,
  });
  series.gauge(
    {
      name: `${prefix}_key_index_entries`,
      help: "Secrets and ConfigMaps whose key names are kept",
      label: "state",
      values: ["kept"],
    },
    () => new Map([["kept", keyEntries()] as const]),
  );
  return {
    decided: series.counter({
      name: `${prefix}_requests_total`,
      help: "Pods decided upon, by result, kind of bundles and reason of a refusal",
      labels: {
        result: ["injected", "skipped", "rejected", "error"],
        scope: ["Bundle", "ClusterBundle", "both", "none"],
        reason: ["none", ...Object.values(reasons)],
      },
    }),
    resolved: series.counter({
      name: `${prefix}_bundle_resolve_total`,
      help: "Named bundles that were looked up, by where they were found",
      label: "source",
      values: ["cache", "live"],
    }),
    reviewed: series.counter({
      name: `${prefix}_access_reviews_total`,
      help: "Questions whether an account may use a ClusterBundle, by answer; answers from the cache included",
      label: "result",
      values: ["allowed", "denied", "error"],
    }),
    took: (durationMs) => {
      seconds(durationMs / 1000);
    },
  };
}
