import type { ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  type EnterpriseLicense,
  type LicenseAssociation,
  licenseTypes,
} from "@quartermaster/api/licensing";
import { readDesiredLicense } from "@quartermaster/license-selection";
import type { DomainSeries, KubeObject } from "@quartermaster/runtime";

/** Objects in the controllers' watches, read with each scrape. */
export interface LicensingMetrics {
  readonly clusters: () => readonly ElasticsearchCluster[];
  readonly licenses: () => readonly ClusterLicense[];
  readonly pool: () => readonly EnterpriseLicense[];
  readonly associations: () => readonly LicenseAssociation[];
}

/** Names become labels within a limit; what is beyond it is added up. */
const bounded = { atMost: 1000 } as const;

/** Registers the series of licensing. Times are absolute. */
export function licensingMetrics(series: DomainSeries, metrics: LicensingMetrics): void {
  const { clusters, licenses, pool, associations } = metrics;
  series.gauge(
    {
      name: "elastic_license_expiry_timestamp_seconds",
      help: "When a license ends",
      labels: { kind: ["ClusterLicense", "EnterpriseLicense"], license: bounded },
    },
    () => [
      ...licenses().map((each) => expiryMetric("ClusterLicense", each)),
      ...pool().map((each) => expiryMetric("EnterpriseLicense", each)),
    ],
  );
  for (const side of ["used", "limit"] as const)
    series.gauge(
      {
        name: `elastic_license_capacity_${side}`,
        help:
          side === "used"
            ? "How much of an EnterpriseLicense is used"
            : "How much of an EnterpriseLicense may be used",
        labels: { license: bounded },
      },
      () =>
        pool().map((each) => ({ labels: { license: locationOf(each) }, value: each.status?.[side] ?? 0 })),
    );
  clusterMetrics(series, { clusters, associations });
}

function clusterMetrics(
  series: DomainSeries,
  { clusters, associations }: Pick<LicensingMetrics, "clusters" | "associations">,
): void {
  series.gauge(
    {
      name: "elastic_cluster_license_info",
      help: "The license that a cluster runs under",
      labels: { cluster: bounded, type: ["basic", ...licenseTypes] },
    },
    () =>
      clusters().flatMap((cluster) => {
        const type = readDesiredLicense(cluster.status?.license?.type ?? "");
        return type === undefined ? [] : [{ labels: { cluster: locationOf(cluster), type }, value: 1 }];
      }),
  );
  series.gauge(
    {
      name: "elastic_license_rejected_clusters",
      help: "Clusters whose engine refused the license that they are to run under",
      labels: {},
    },
    () => {
      const refusing = clusters().filter(({ status }) => status?.license?.state === "Rejected");
      return [{ labels: {}, value: refusing.length }];
    },
  );
  series.gauge(
    {
      name: "elastic_license_unmatched_clusters",
      help: "Clusters without a license of the pool or of their namespace",
      labels: {},
    },
    () => {
      const matched = new Set(
        associations().map(
          ({ metadata: { namespace = "" }, spec }) => `${namespace}/${spec.clusterRef.name}`,
        ),
      );
      const open = clusters().filter(
        ({ metadata: { namespace = "", name } }) => !matched.has(`${namespace}/${name}`),
      );
      return [{ labels: {}, value: open.length }];
    },
  );
}

function locationOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function expiryMetric<const K extends "ClusterLicense" | "EnterpriseLicense">(
  kind: K,
  license: ClusterLicense | EnterpriseLicense,
) {
  return { labels: { kind, license: locationOf(license) }, value: license.spec.expiryDate / 1000 };
}
