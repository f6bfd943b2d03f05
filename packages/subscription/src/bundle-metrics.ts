import type { Bundle, ClusterBundle } from "@quartermaster/api";
import type { DomainSeries, KeptState } from "@quartermaster/runtime";

import { conditionTypes } from "./bundle-reasons.ts";
import { seriesPrefix } from "./injection-metrics.ts";
import { isAlwaysInjected } from "./injection/decide-injection.ts";

/** The bundles in the controllers' watches, read with each scrape. */
export interface BundleMetrics {
  readonly bundles: () => readonly Bundle[];
  readonly clusterBundles: () => readonly ClusterBundle[];
}

/** Registers how many bundles there are. Every replica counts what it sees: aggregate with `max`. */
export function bundleMetrics(series: DomainSeries, { bundles, clusterBundles }: BundleMetrics): void {
  const truth = ["true", "false"] as const;
  series.gauge(
    {
      name: `${seriesPrefix}_bundles`,
      help: "Bundles and ClusterBundles, by whether they are invalid and whether they are injected without being named",
      labels: { scope: ["Bundle", "ClusterBundle"], invalid: truth, auto: truth },
    },
    () => [
      ...bundles().map((each) => metricOf("Bundle", each)),
      ...clusterBundles().map((each) => metricOf("ClusterBundle", each)),
    ],
  );
}

function metricOf<const S extends "Bundle" | "ClusterBundle">(scope: S, object: Bundle | ClusterBundle) {
  const isInvalid = object.status?.conditions?.some(
    ({ type, status }) => type === conditionTypes.invalid && status === "True",
  );
  const labels = { scope, invalid: text(isInvalid === true), auto: text(isAlwaysInjected(object)) };
  return { labels, value: 1 };
}

function text(isTrue: boolean): "true" | "false" {
  return isTrue ? "true" : "false";
}

/**
 * Registers whether each webhook configuration trusts the CAs that are published, and is as it should be otherwise. Only who
 * keeps the configurations has series: the leader.
 */
export function syncMetrics(series: DomainSeries): (name: string, state: KeptState) => void {
  const states = new Map<string, 0 | 1>();
  series.gauge(
    {
      name: `${seriesPrefix}_cabundle_in_sync`,
      help: "Whether a webhook configuration has the published CA bundle and is otherwise as it should be",
      labels: { configuration: { atMost: 8 } },
    },
    () => [...states].map(([configuration, value]) => ({ labels: { configuration }, value })),
  );
  return (name, state) => {
    if (state === "absent") states.delete(name);
    else states.set(name, state === "inSync" ? 1 : 0);
  };
}
