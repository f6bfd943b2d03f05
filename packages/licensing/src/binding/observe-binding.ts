import type { ElasticsearchCluster } from "@quartermaster/api";
import { type LicenseAssociation, licenseNames } from "@quartermaster/api/licensing";
import { byNamespace, isControlledBy, type Live } from "@quartermaster/runtime";

import { allocationsOf, licensesFor, type LicensingStores, needOfOthers } from "../licensing-stores.ts";
import type { PoolLicense } from "../pool/license-pool.ts";
import type { BoundNow } from "./bind.ts";
import type { BindingSeen } from "./decide-binding.ts";

/** Reads what the choice for a cluster depends on. */
export function observeBinding(cluster: Live<ElasticsearchCluster>, stores: LicensingStores): BindingSeen {
  const { namespace, name } = cluster.metadata;
  const location = stores.namespaces.get({ name: namespace });
  return {
    cluster,
    pool: stores.pool,
    needOfOthers: (license) => needOfOthers(allocationsOf(stores, license), cluster),
    isSourceDeleted: isSourceDeleted(cluster, stores),
    hasSlot: ownSource(cluster, stores) !== undefined,
    namespaceLabels: location === undefined ? undefined : (location.metadata.labels ?? {}),
    licenses: licensesFor(stores, cluster),
    settings: stores.associations
      .listBy(byNamespace, namespace)
      .filter(({ spec }) => spec.origin === "User" && spec.clusterRef.name === name),
  };
}

/** Whether the license that a cluster has of the pool is no part of it any more. An invalid one is not a deleted one. */
function isSourceDeleted(cluster: Live<ElasticsearchCluster>, stores: LicensingStores): boolean {
  const own = ownSource(cluster, stores);
  if (own === undefined) return false;
  const { source, licenseUid } = own;
  // The pool may have moved to another namespace by a setting: of the former one nothing is known.
  if (source.namespace !== stores.licenseNamespace) return false;
  const from = stores.pool.licenses.find(({ license }) => license.metadata.name === source.name);
  return from === undefined || !from.nested.some(({ spec }) => spec.uid === licenseUid);
}

/** Where the license of a cluster was copied from, by our own association. */
function ownSource(
  cluster: Live<ElasticsearchCluster>,
  stores: LicensingStores,
):
  | {
      readonly source: NonNullable<LicenseAssociation["spec"]["source"]>;
      readonly licenseUid: string | undefined;
    }
  | undefined {
  const { association } = boundNow(cluster, stores);
  const { source, licenseRef } = association?.spec ?? {};
  if (association === undefined || source === undefined || !isControlledBy(association, cluster))
    return undefined;
  return { source, licenseUid: licenseRef?.uid };
}

/** The EnterpriseLicense behind a binding, if it enforces its limits. */
export function enforcingSource({ association }: BoundNow, stores: LicensingStores): PoolLicense | undefined {
  const { source } = association?.spec ?? {};
  if (source?.namespace !== stores.licenseNamespace) return undefined;
  return stores.pool.licenses.find(
    ({ license: { metadata, spec } }) =>
      metadata.name === source.name && spec.capacityPolicy?.mode === "Enforce",
  );
}

export function boundNow(
  { metadata: { namespace, name } }: Live<ElasticsearchCluster>,
  stores: LicensingStores,
): BoundNow {
  const names = licenseNames(name);
  return {
    copy: stores.licenses.get({ namespace, name: names.pool }),
    association: stores.associations.get({ namespace, name: names.association }),
  };
}
