import {
  bundle,
  clusterBundle,
  elasticsearchCluster,
  installPlan,
  openSearchCluster,
  opsterOpenSearchCluster,
  resourceManifest,
} from "@quartermaster/api";
import { clusterLicense, enterpriseLicense, licenseAssociation } from "@quartermaster/api/licensing";
import { classify, type Kind, type KubeObject } from "@quartermaster/runtime";
import { leases } from "@quartermaster/runtime/kinds";

import type { Cluster } from "./connect.ts";
import type { OperatorLease, OwnObject, UninstallRole } from "./own-object.ts";

interface OwnKind {
  readonly kind: Kind;
  readonly role: UninstallRole;
}

/** In the order in which they are removed: first what workloads stand behind, while the operator has its licenses and bundles. */
const ownKinds: readonly OwnKind[] = [
  ...[installPlan, openSearchCluster, opsterOpenSearchCluster, elasticsearchCluster].map(({ kind }) => ({
    kind: kind as Kind,
    role: "released" as const,
  })),
  ...[bundle, clusterBundle, enterpriseLicense, clusterLicense, licenseAssociation, resourceManifest].map(
    ({ kind }) => ({ kind: kind as Kind, role: "deleted" as const }),
  ),
];

/** Every object of our kinds; kinds that are not served have none. */
export async function ownObjects({ client }: Cluster, signal: AbortSignal): Promise<readonly OwnObject[]> {
  const found: OwnObject[] = [];
  for (const { kind, role } of ownKinds) {
    try {
      for await (const { metadata } of client.list(kind, { signal, isMetadataOnly: true }))
        found.push({ ...ownObject(metadata), resource: `${kind.plural}.${kind.group}`, role });
    } catch (error) {
      if (classify(error) !== "notFound") throw error;
    }
  }
  return found;
}

/** Whether it is the name of a CRD of ours. Shares are not among them: users make none. */
export function isOwnDefinition(name: string): boolean {
  return ownKinds.some(({ kind }) => `${kind.plural}.${kind.group}` === name);
}

/** Where the objects of a resource are served. */
export function kindOf({ resource }: Pick<OwnObject, "resource">): Kind {
  const found = ownKinds.find(({ kind }) => `${kind.plural}.${kind.group}` === resource);
  if (found === undefined) throw new Error(`${resource} is none of our kinds`);
  return found.kind;
}

function ownObject(metadata: KubeObject["metadata"]): Omit<OwnObject, "resource" | "role"> {
  const { namespace, name, uid = "", resourceVersion = "", finalizers = [], deletionTimestamp } = metadata;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    finalizers,
    isBeingDeleted: deletionTimestamp !== undefined,
  };
}

/** Leases of operators of ours, in all namespaces. */
export async function operatorLeases(
  { client }: Cluster,
  signal: AbortSignal,
): Promise<readonly OperatorLease[]> {
  const found: OperatorLease[] = [];
  const fieldSelector = "metadata.name=quartermaster";
  for await (const { metadata, spec } of client.list(leases, { signal, fieldSelector })) {
    const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = spec ?? {};
    found.push({
      namespace: metadata.namespace ?? "",
      holder: holderIdentity,
      renewedMs: renewTime === undefined ? undefined : Date.parse(renewTime),
      durationMs: leaseDurationSeconds * 1_000,
    });
  }
  return found;
}
