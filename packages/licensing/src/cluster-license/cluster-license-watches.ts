import { elasticsearchCluster } from "@quartermaster/api";
import { type ClusterLicense, clusterLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { type Live, mappedFrom, type MappedSource } from "@quartermaster/runtime";

import type { KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { poolLicenses } from "../licensing-stores.ts";

/**
 * Changes that bring ClusterLicenses back: what engines report, which of them a cluster uses, and the EnterpriseLicense that a copy
 * ends with. The association of a copy is written after the copy.
 */
export function clusterLicenseWatches(
  settings: LicensingSettings,
  known: KnownClusters,
): readonly MappedSource[] {
  return [
    mappedFrom(clusterLicense.kind, (license) => {
      for (const group of groupsOf(license)) known.note(group, license);
      return [];
    }),
    mappedFrom(elasticsearchCluster.kind, ({ metadata }) => known.refs(metadata.namespace ?? ""), {
      changed: ({ status }) => status?.license,
    }),
    mappedFrom(
      licenseAssociation.kind,
      ({ metadata }) => known.refs(metadata.namespace ?? ""),
      generationOnly,
    ),
    mappedFrom(poolLicenses(settings), () => known.refs(all), generationOnly),
  ];
}

/** No namespace has this name. */
const all = "*";

/** Groups in which a license is brought back. */
export function groupsOf({ metadata: { namespace } }: Live<ClusterLicense>): readonly string[] {
  return [all, namespace];
}

const generationOnly = {
  changed: ({ metadata: { generation, deletionTimestamp } }: Live) => [generation, deletionTimestamp],
};
