import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type EnterpriseLicense,
  enterpriseLicense,
  type LicenseAssociation,
  licenseAssociation,
} from "@quartermaster/api/licensing";
import {
  type Client,
  type Index,
  keyOf,
  type KubeObject,
  type Live,
  type ObjectRef,
} from "@quartermaster/runtime";
import { type Namespace, namespaces, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { type Binding, decideBinding } from "../binding/decide-binding.ts";
import { observeBinding } from "../binding/observe-binding.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import {
  allocationsBySource,
  type LicensingStores,
  type Lookup,
  signatureSecretSelector,
} from "../licensing-stores.ts";
import { LicensePool } from "../pool/license-pool.ts";

/** Input of licensing, as plain lists: read once, changed for a preview, decided upon. */
export interface LicenseState {
  readonly clusters: readonly Live<ElasticsearchCluster>[];
  readonly licenses: readonly Live<ClusterLicense>[];
  readonly associations: readonly Live<LicenseAssociation>[];
  readonly namespaces: readonly Live<Namespace>[];
  readonly enterprise: readonly Live<EnterpriseLicense>[];
  /** Signatures of the license namespace. */
  readonly secrets: readonly Live<Secret>[];
}

/** Reads it all. It writes nothing. */
export async function readLicenseState(
  client: Client,
  { licenseNamespace, signal }: { readonly licenseNamespace: string; readonly signal: AbortSignal },
): Promise<LicenseState> {
  const [clusters, licenses, associations, seats, enterprise, signatures] = await Promise.all([
    Array.fromAsync(client.list(elasticsearchCluster.kind, { signal })),
    Array.fromAsync(client.list(clusterLicense.kind, { signal })),
    Array.fromAsync(client.list(licenseAssociation.kind, { signal })),
    Array.fromAsync(client.list(namespaces, { signal })),
    Array.fromAsync(client.list(enterpriseLicense.kind, { signal })),
    Array.fromAsync(
      client.list(secrets, {
        namespace: licenseNamespace,
        fieldSelector: signatureSecretSelector,
        signal,
      }),
    ),
  ]);
  return { clusters, licenses, associations, namespaces: seats, enterprise, secrets: signatures };
}

/** The license that a cluster would get. */
export interface ExplainedCluster {
  readonly cluster: Live<ElasticsearchCluster>;
  readonly binding: Binding;
}

/** Decides for every cluster as the controller would. */
export function explainLicenses(
  state: LicenseState,
  nowMs: number,
  settings: LicensingSettings,
): readonly ExplainedCluster[] {
  const stores = storesOf(state, settings);
  return state.clusters.map((cluster) => ({
    cluster,
    binding: decideBinding(observeBinding(cluster, stores), nowMs, settings.parameters),
  }));
}

/** The lists as the controllers' stores. */
export function storesOf(
  state: LicenseState,
  { licenseNamespace, vendorKey }: LicensingSettings,
): LicensingStores {
  const signatures = lookup(state.secrets);
  const secretOf = (name: string): Live<Secret> | undefined =>
    signatures.get({ namespace: licenseNamespace, name });
  const clusters = lookup(state.clusters);
  const associations = lookup(state.associations);
  return {
    clusters,
    licenses: lookup(state.licenses),
    associations,
    licenseNamespace,
    allocations: allocationsBySource({ clusters, associations }),
    namespaces: lookup(state.namespaces),
    pool: new LicensePool().read(
      state.enterprise.filter(({ metadata }) => metadata.namespace === licenseNamespace),
      { licenseNamespace, secretOf, versionOf: () => "", vendorKey },
    ),
  };
}

function lookup<O extends KubeObject>(objects: readonly Live<O>[]): Lookup<O> {
  const byKey = new Map(objects.map((object) => [keyOf(object.metadata), object]));
  const grouped = new Map<string, Map<string, Live<O>[]>>();
  const groupsOf = (index: Index<O>): Map<string, Live<O>[]> => {
    const known =
      grouped.get(index.name) ?? Map.groupBy(objects, (object) => index.valuesOf(object)[0] ?? "");
    grouped.set(index.name, known);
    return known;
  };
  return {
    get: (ref: ObjectRef) => byKey.get(keyOf(ref)),
    list: () => objects,
    listBy: (index, value) => groupsOf(index).get(value) ?? [],
  };
}
