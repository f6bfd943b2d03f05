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

/**
 * Annotation of a copied license: the Secrets that were made for it, each as name=uid, its own and those of licenses before it. The latter are deleted once
 * the engine has this one.
 */
const SECRETS_ANNOTATION = "license.k8s.elastic.co/signature-secrets";

/** A Secret that was made for a copy. */
export interface MadeSecret {
  readonly name: string;
  /** Undefined if the response to its creation was lost. */
  readonly uid?: string | undefined;
}

/**
 * The Secret with the signature of one nested license; undefined where the signature cannot be read. It has a name of its own for each signature and is
 * never changed: at no moment is a license beside the signature of another one, wherever the operator dies.
 */
export function signatureSecret(
  cluster: Live<ElasticsearchCluster>,
  { spec, signature }: NestedLicense,
): Secret | undefined {
  if (signature.kind !== "found") return undefined;
  const { name, namespace } = cluster.metadata;
  const maxNodes = signature.maxNodes === undefined ? {} : { maxNodes: btoa(String(signature.maxNodes)) };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: `${licenseNames(name).pool}-${digestOf({ uid: spec.uid, text: signature.text }).slice(0, 10)}`,
      namespace,
      labels: { [LICENSED_CLUSTER_LABEL]: name },
      ownerReferences: [controllerReference(cluster)],
    },
    type: SIGNATURE_SECRET_TYPE,
    immutable: true,
    data: { [spec.uid]: btoa(signature.text), ...maxNodes },
  };
}

/** The copy of one nested license, with the Secrets that exist for it: its own first. */
export function licenseCopy(
  { metadata: { name } }: Live<ElasticsearchCluster>,
  { spec }: NestedLicense,
  [own, ...others]: readonly [MadeSecret, ...(readonly MadeSecret[])],
): Desired<ClusterLicense> {
  const made = [own, ...others].map(({ name: secret, uid = "" }) => `${secret}=${uid}`);
  return {
    metadata: {
      name: licenseNames(name).pool,
      labels: { [LICENSED_CLUSTER_LABEL]: name },
      annotations: { [SECRETS_ANNOTATION]: made.join(",") },
    },
    spec: { ...spec, signatureRef: { name: own.name, key: spec.uid } },
  };
}

/**
 * The Secrets that were made for a copy, by its own words. A user may have edited these, so only names that this package gives to signatures of this cluster
 * count: no other Secret is ever deleted (security/115).
 */
export function secretsOf(
  { metadata, spec }: Live<ClusterLicense>,
  cluster: Live<ElasticsearchCluster>,
): readonly MadeSecret[] {
  const prefix = `${licenseNames(cluster.metadata.name).pool}-`;
  const isOurs = (name: string): boolean =>
    name.startsWith(prefix) && /^[0-9a-f]{10}$/.test(name.slice(prefix.length));
  const listed = (metadata.annotations?.[SECRETS_ANNOTATION] ?? "").split(",").map((entry): MadeSecret => {
    const [name = "", uid = ""] = entry.split("=");
    return uid === "" ? { name } : { name, uid };
  });
  const all = new Map([{ name: spec.signatureRef.name }, ...listed].map((secret) => [secret.name, secret]));
  return [...all.values()].filter(({ name }) => isOurs(name));
}

/** The controller's association of a cluster. */
export function ownAssociation(
  cluster: Live<ElasticsearchCluster>,
  license: { readonly name: string; readonly uid: string },
  { pool, before, nowMs }: AssociationOptions,
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

/** Where a license comes from, and what the association says now. */
export interface AssociationOptions {
  readonly pool: PoolLicense | undefined;
  readonly before: Live<LicenseAssociation> | undefined;
  readonly nowMs: number;
}

/** A license that enforces its limits is only chosen for a cluster that it has room for: it may grow up to its spec. */
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
  const location = { namespace: metadata.namespace ?? "", name: metadata.name, uid: spec.uid };
  const known = before?.spec.source;
  const isSame =
    known?.namespace === location.namespace && known.name === location.name && known.uid === location.uid;
  return { ...location, since: isSame ? known.since : timeText(nowMs) };
}
