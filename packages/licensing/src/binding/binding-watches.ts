import { type ElasticsearchCluster, elasticsearchCluster } from "@quartermaster/api";
import { clusterLicense, type LicenseAssociation, licenseAssociation } from "@quartermaster/api/licensing";
import { type Live, mappedFrom, type MappedSource, type ObjectRef } from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import type { KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { poolLicenses, poolSecrets } from "../licensing-stores.ts";
import { signatureSecrets } from "../pool/license-pool.ts";

/** Changes that bring clusters back to the choice of their license, besides those of the clusters themselves. */
export function bindingWatches(settings: LicensingSettings, known: KnownClusters): readonly MappedSource[] {
  const everyone = (): readonly ObjectRef[] => known.refs("all");
  // A Secret that no license names yet changes nothing: its license brings every cluster back.
  const named = new Set<string>();
  return [
    mappedFrom(elasticsearchCluster.kind, (cluster) => {
      for (const group of groupsOf(cluster)) known.note(group, cluster);
      return [];
    }),
    mappedFrom(
      poolLicenses(settings),
      (license) => {
        for (const name of signatureSecrets(license.spec)) named.add(name);
        return everyone();
      },
      generationOnly,
    ),
    mappedFrom(poolSecrets(settings), ({ metadata }) => (named.has(metadata.name) ? everyone() : [])),
    mappedFrom(clusterLicense.kind, (each) => known.refs(each.metadata.namespace ?? ""), generationOnly),
    mappedFrom(licenseAssociation.kind, (each) => waiting(each, known), generationOnly),
    mappedFrom({ kind: namespaces, isMetadataOnly: true }, (each) => known.refs(each.metadata.name), {
      changed: ({ metadata: { labels } }) => labels,
    }),
  ];
}

/** Groups in which a cluster is brought back. */
export function groupsOf({ metadata: { namespace } }: Live<ElasticsearchCluster>): readonly string[] {
  return ["all", namespace];
}

/** Only changes of the declaration: statuses are ours. */
const generationOnly = {
  changed: ({ metadata: { generation, deletionTimestamp } }: Live) => [generation, deletionTimestamp],
};

/** The cluster of an association; where room of the pool came free or was taken, all clusters. */
function waiting({ spec, metadata }: Live<LicenseAssociation>, known: KnownClusters): readonly ObjectRef[] {
  if (spec.source !== undefined) return known.refs("all");
  return metadata.namespace === undefined
    ? []
    : [{ namespace: metadata.namespace, name: spec.clusterRef.name }];
}
