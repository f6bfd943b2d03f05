import type { DomainSeries } from "@quartermaster/runtime";

import { type RefusalReason, refusalReasons } from "./refusal.ts";

/** What the driver counts. No label holds the name of an object. */
export interface DriverMetrics {
  published(result: "Published" | RefusalReason, seconds: number): void;
  unpublished(): void;
  refreshed(result: "Refreshed" | RefusalReason): void;
}

export interface DriverSamples {
  readonly size: number;
  readonly followedObjects: number;
}

/** The driver's series. `figures` is queried whenever the page is read. */
export function driverMetrics(series: DomainSeries, metrics: () => DriverSamples): DriverMetrics {
  const publishes = series.counter({
    name: "quartermaster_share_driver_publishes_total",
    help: "Volumes that kubelet requested, by result",
    label: "result",
    values: ["Published", ...refusalReasons],
  });
  const refreshes = series.counter({
    name: "quartermaster_share_driver_refreshes_total",
    help: "Changes of content brought to volumes of running pods, by result",
    label: "result",
    values: ["Refreshed", ...refusalReasons],
  });
  const unpublishes = series.counter({
    name: "quartermaster_share_driver_unpublishes_total",
    help: "Volumes that kubelet gave back",
    labels: {},
  });
  const seconds = series.histogram({
    name: "quartermaster_share_driver_publish_seconds",
    help: "Time from kubelet's request to the response",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  series.gauge(
    { name: "quartermaster_share_driver_volumes", help: "Volumes of this node", labels: {} },
    () => [{ labels: {}, value: metrics().size }],
  );
  series.gauge(
    {
      name: "quartermaster_share_driver_followed_objects",
      help: "Objects that are watched for volumes",
      labels: {},
    },
    () => [{ labels: {}, value: metrics().followedObjects }],
  );
  return {
    published: (result, duration) => {
      publishes(result);
      seconds(duration);
    },
    unpublished: () => {
      unpublishes({});
    },
    refreshed: (result) => {
      refreshes(result);
    },
  };
}
