import type { ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  type LicenseAssociation,
  LICENSED_CLUSTER_LABEL,
  licenseNames,
  SIGNATURE_SECRET_TYPE,
} from "@quartermaster/api/licensing";
import { controllerReference, type Desired, digestOf, type Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import { timeText } from "../expiry/license-state.ts";
import { clusterNeed } from "../pool/capacity.ts";
import type { NestedLicense, PoolLicense } from "../pool/license-pool.ts";

/** Annotation of a copied licence: Secrets of licences before it, to be deleted once the engine has this one. */
const RETIRED_ANNOTATION = "license.k8s.elastic.co/retired-signatures";

/** What is written into the namespace of a cluster for a licence of the pool: these three, and nothing else of the pool. */
export interface PoolCopy {
  /** Undefined where the signature could not be read: then nothing is chosen. */
  readonly secret: Secret;
  readonly license: Desired<ClusterLicense>;
}

/**
 * The copy of one nested licence. The Secret has a name of its own for each signature and is never changed: at no moment is a
 * licence beside the signature of another one, wherever the operator dies.
 */
export function poolCopy(
  cluster: Live<ElasticsearchCluster>,
  { spec, signature }: NestedLicense,
  before: Live<ClusterLicense> | undefined,
): PoolCopy | undefined {
  if (signature.kind !== "found") return undefined;
  const { pool: name } = licenseNames(cluster.metadata.name);
  const labels = { [LICENSED_CLUSTER_LABEL]: cluster.metadata.name };
  const secretName = `${name}-${digestOf({ uid: spec.uid, text: signature.text }).slice(0, 10)}`;
  const maxNodes = signature.maxNodes === undefined ? {} : { maxNodes: btoa(String(signature.maxNodes)) };
  const retired = retiredBy(before, secretName);
  return {
    secret: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: secretName,
        ...(cluster.metadata.namespace === undefined ? {} : { namespace: cluster.metadata.namespace }),
        labels,
        ownerReferences: [controllerReference(cluster)],
      },
      type: SIGNATURE_SECRET_TYPE,
      immutable: true,
      data: { [spec.uid]: btoa(signature.text), ...maxNodes },
    },
    license: {
      metadata: {
        name,
        labels,
        ...(retired.length === 0 ? {} : { annotations: { [RETIRED_ANNOTATION]: retired.join(",") } }),
      },
      spec: { ...spec, signatureRef: { name: secretName, key: spec.uid } },
    },
  };
}

/** Secrets that a copy still names besides its own. */
export function retiredSecrets({ metadata }: Live<ClusterLicense>): readonly string[] {
  return (metadata.annotations?.[RETIRED_ANNOTATION] ?? "").split(",").filter((name) => name !== "");
}

function retiredBy(before: Live<ClusterLicense> | undefined, secretName: string): readonly string[] {
  if (before === undefined) return [];
  const named = new Set([...retiredSecrets(before), before.spec.signatureRef.name]);
  named.delete(secretName);
  return [...named].toSorted();
}

/** The controller's association of a cluster. */
export function ownAssociation(
  cluster: Live<ElasticsearchCluster>,
  license: { readonly name: string; readonly uid: string },
  { pool, before, nowMs }: AssociationParts,
): Desired<LicenseAssociation> {
  const { association: name } = licenseNames(cluster.metadata.name);
  return {
    metadata: { name, labels: { [LICENSED_CLUSTER_LABEL]: cluster.metadata.name } },
    spec: {
      clusterRef: { name: cluster.metadata.name },
      licenseRef: { kind: "ClusterLicense", name: license.name, uid: license.uid },
      origin: "Controller",
      pinned: false,
      ...(pool === undefined
        ? {}
        : { source: { ...sourceOf(pool, before, nowMs), ...grantOf(pool, cluster) } }),
    },
  };
}

/** Where a licence comes from, and what the association says now. */
export interface AssociationParts {
  readonly pool: PoolLicense | undefined;
  readonly before: Live<LicenseAssociation> | undefined;
  readonly nowMs: number;
}

/** A licence that enforces its limits is only chosen for a cluster that it has room for: it may become as large as it asks to be. */
function grantOf(
  { license }: PoolLicense,
  cluster: Live<ElasticsearchCluster>,
): { readonly grantedNodes?: number } {
  if (license.spec.capacityPolicy?.mode !== "Enforce") return {};
  return { grantedNodes: clusterNeed(cluster).nodes };
}

function sourceOf(
  { license: { metadata, spec } }: PoolLicense,
  before: Live<LicenseAssociation> | undefined,
  nowMs: number,
): NonNullable<LicenseAssociation["spec"]["source"]> {
  const place = { namespace: metadata.namespace ?? "", name: metadata.name, uid: spec.uid };
  const known = before?.spec.source;
  const isSame = known?.namespace === place.namespace && known.name === place.name && known.uid === place.uid;
  return { ...place, since: isSame ? known.since : timeText(nowMs) };
}
