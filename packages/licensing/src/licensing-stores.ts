import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type EnterpriseLicense,
  enterpriseLicense,
  type LicenseAssociation,
  licenseAssociation,
  licenseNames,
} from "@quartermaster/api/licensing";
import { longestSignature, signatureData, systemSecretTypes } from "@quartermaster/license-selection";
import {
  byNamespace,
  type Context,
  type InformerRequest,
  isControlledBy,
  keyOf,
  type KubeObject,
  type Live,
  type ReadStore,
} from "@quartermaster/runtime";
import { type Namespace, namespaces, type Secret, secrets } from "@quartermaster/runtime/kinds";

import type { LicensingSettings } from "./licensing-settings.ts";
import { clusterNeed, type ClusterNeed, type OtherNeeds, sumNeeds } from "./pool/capacity.ts";
import type { LicensePool, RankedPool } from "./pool/license-pool.ts";

/** Field selector of the Secrets that can hold signatures. */
export const signatureSecretSelector: string = systemSecretTypes.map((type) => `type!=${type}`).join(",");

/** Signatures of the pool: the only Secrets that the domain reads. Of other Secrets of the namespace no value is kept. */
export function poolSecrets({ licenseNamespace }: LicensingSettings): InformerRequest<Secret> {
  return {
    kind: secrets,
    namespace: licenseNamespace,
    fieldSelector: signatureSecretSelector,
    projection: signaturesOnly,
  };
}

const signaturesOnly = {
  name: "signatures",
  project: (secret: Secret): Secret => ({ ...secret, data: signatureData(secret) }),
  textLimitBytes: 2 * longestSignature,
};

/** The pool: EnterpriseLicenses of other namespaces count for nothing. */
export function poolLicenses({ licenseNamespace }: LicensingSettings): InformerRequest<EnterpriseLicense> {
  return { kind: enterpriseLicense.kind, namespace: licenseNamespace };
}

/** As much of a store as is needed. */
export type Lookup<O extends KubeObject> = Pick<ReadStore<O>, "get" | "list" | "listBy">;

/** Stores of the controllers of licensing. */
export interface LicensingStores {
  readonly clusters: Lookup<ElasticsearchCluster>;
  readonly licenses: Lookup<ClusterLicense>;
  readonly associations: Lookup<LicenseAssociation>;
  readonly namespaces: Lookup<Namespace>;
  readonly pool: RankedPool;
  /** The only namespace whose EnterpriseLicenses are honoured. */
  readonly licenseNamespace: string;
  /** Clusters that have a license of the pool; see `allocationsOf`. */
  readonly allocations: ReadonlyMap<string, readonly Allocation[]>;
}

/** Opens the stores of one reconcile. */
export function licensingStores(
  ctx: Context,
  settings: LicensingSettings,
  cache: LicensePool,
): LicensingStores {
  const store = ctx.store(secrets);
  const { licenseNamespace, vendorKey } = settings;
  const secretOf = (name: string): Live<Secret> | undefined =>
    store.get({ namespace: licenseNamespace, name });
  const clusters = ctx.store<ElasticsearchCluster>(elasticsearchCluster.kind);
  const associations = ctx.store<LicenseAssociation>(licenseAssociation.kind);
  return {
    clusters,
    licenses: ctx.store(clusterLicense.kind),
    associations,
    licenseNamespace,
    allocations: allocationsBySource({ clusters, associations }),
    namespaces: ctx.store(namespaces),
    pool: cache.read(ctx.store<EnterpriseLicense>(enterpriseLicense.kind).list(), {
      licenseNamespace,
      secretOf,
      versionOf: (name) => secretOf(name)?.metadata.resourceVersion ?? "-",
      vendorKey,
    }),
  };
}

/** Licenses of a namespace that are for any of its clusters, or for this one. */
export function licensesFor(
  { licenses, clusters }: LicensingStores,
  { metadata: { namespace, name } }: Live<ElasticsearchCluster>,
): readonly Live<ClusterLicense>[] {
  return licenses.listBy(byNamespace, namespace).filter((license) => {
    if (isMaterialised(license)) return false;
    const isDirect = clusters.get({ namespace, name: license.metadata.name }) !== undefined;
    return !isDirect || license.metadata.name === name;
  });
}

/** Whether a license is a copy of the pool's. */
function isMaterialised({ metadata }: Live<ClusterLicense>): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ kind, controller }) => kind === "ElasticsearchCluster" && controller === true,
    ) ?? false
  );
}

/** A cluster that has a license of the pool. */
export interface Allocation {
  readonly association: Live<LicenseAssociation>;
  readonly cluster: Live<ElasticsearchCluster>;
  readonly need: ClusterNeed;
}

/** The clusters that have a license of an EnterpriseLicense, oldest first. */
export function allocationsOf(
  { allocations }: Pick<LicensingStores, "allocations">,
  { metadata }: Live<EnterpriseLicense>,
): readonly Allocation[] {
  return allocations.get(keyOf(metadata)) ?? [];
}

/**
 * The clusters that have a license of the pool, by EnterpriseLicense: the associations are the allocations. One counts only if the
 * cluster itself controls it and it has the controller's name, whatever it says of itself.
 */
export function allocationsBySource({
  associations,
  clusters,
}: Pick<LicensingStores, "associations" | "clusters">): ReadonlyMap<string, readonly Allocation[]> {
  const all = associations
    .list()
    .flatMap((association): readonly (Allocation & { readonly source: string })[] => {
      const { spec, metadata: own } = association;
      const isOurs =
        spec.origin === "Controller" && own.name === licenseNames(spec.clusterRef.name).association;
      if (spec.source === undefined || !isOurs) return [];
      const cluster = clusters.get({ namespace: own.namespace, name: spec.clusterRef.name });
      return cluster === undefined || !isControlledBy(association, cluster)
        ? []
        : [{ association, cluster, need: clusterNeed(cluster), source: keyOf(spec.source) }];
    })
    .toSorted((one, other) => (sinceOf(one) < sinceOf(other) ? -1 : 1));
  return Map.groupBy(all, ({ source }) => source);
}

function sinceOf({ association: { spec, metadata } }: Allocation): string {
  return `${spec.source?.since ?? ""} ${metadata.namespace}/${metadata.name}`;
}

export function needOfOthers(
  allocations: readonly Allocation[],
  { metadata: { uid, namespace } }: Live<ElasticsearchCluster>,
): OtherNeeds {
  const others = allocations.filter(({ cluster }) => cluster.metadata.uid !== uid);
  const near = others.filter(({ cluster }) => cluster.metadata.namespace === namespace);
  return {
    all: sumNeeds(others.map(({ need }) => need)),
    inNamespace: sumNeeds(near.map(({ need }) => need)),
  };
}
