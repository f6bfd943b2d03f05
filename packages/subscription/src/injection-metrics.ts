import type { AccessDecision, DomainSeries, WebhookServing } from "@quartermaster/runtime";

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
  reviewed(response: AccessDecision): void;
}

/** Values that are read whenever the page is. */
export interface InjectionMetrics {
  readonly serving: WebhookServing;
  readonly wallMs: () => number;
  /** Objects whose key names are known, and how many of them are watched. */
  readonly keyIndex: { readonly size: number; readonly watched: number };
}

/** The start of every series of subscription injection. */
export const seriesPrefix = "quartermaster_subscription_injection";

/** From half a millisecond to five seconds, the longest that the API server waits. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Registers the series of the pod webhook. No name of an object becomes a label. */
export function injectionMetrics(series: DomainSeries, metrics: InjectionMetrics): InjectionObserver {
  const seconds = series.histogram({
    name: `${seriesPrefix}_duration_seconds`,
    help: "Time to decide upon a pod",
    buckets,
  });
  const reviewed = series.counter({
    name: `${seriesPrefix}_sar_total`,
    help: "Reviews whether an account may use a ClusterBundle, by decision and by whether it was cached",
    labels: { result: ["allowed", "denied", "error"], cached: ["true", "false"] },
  });
  readMetrics(series, metrics);
  return {
    decided: series.counter({
      name: `${seriesPrefix}_requests_total`,
      help: "Pods decided upon, by result, kind of bundles and reason of a refusal",
      labels: {
        result: ["injected", "skipped", "rejected", "error"],
        scope: ["Bundle", "ClusterBundle", "both", "none"],
        reason: ["none", ...Object.values(reasons)],
      },
    }),
    resolved: series.counter({
      name: `${seriesPrefix}_bundle_resolve_total`,
      help: "Named bundles that were looked up, by where they were found",
      label: "source",
      values: ["cache", "live"],
    }),
    reviewed: ({ result, isCached }) => {
      reviewed({ result, cached: isCached ? "true" : "false" });
    },
    took: (durationMs) => {
      seconds(durationMs / 1000);
    },
  };
}

function readMetrics(series: DomainSeries, { serving, wallMs, keyIndex }: InjectionMetrics): void {
  series.gauge(
    {
      name: `${seriesPrefix}_key_index_entries`,
      help: "Secrets and ConfigMaps whose key names are known, by how they are kept up to date",
      label: "by",
      values: ["watch", "read"],
    },
    () => new Map([["watch", keyIndex.watched] as const, ["read", keyIndex.size] as const]),
  );
  const plain = (name: string, help: string, read: () => number): void => {
    series.gauge({ name: `${seriesPrefix}_${name}`, help, labels: {} }, () => [
      { labels: {}, value: read() },
    ]);
  };
  plain(
    "watch_age_seconds",
    "Time since the quietest watch of bundles and permissions last heard from the API server",
    () => serving.silentMs() / 1000,
  );
  plain("cert_expiry_seconds", "Time until the certificate of this replica ends; 0 without one", () => {
    const endMs = serving.certificateExpiresMs();
    return endMs === undefined ? 0 : Math.max(0, endMs - wallMs()) / 1000;
  });
}
