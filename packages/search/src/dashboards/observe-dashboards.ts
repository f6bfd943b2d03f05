import { type Context, isControlledBy, type Kind, type Live } from "@quartermaster/runtime";
import { configMaps, type Deployment, deployments, secrets, services } from "@quartermaster/runtime/kinds";

import { followedSecrets } from "../material/spec-references.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { byCluster, ownerLabels } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";
import { dashboardsNames } from "../workload/dashboards-names.ts";

export interface DashboardsSeen {
  /** Everything of it that is ours, whether it is wanted or not. */
  readonly present: readonly PresentObject[];
  readonly deployment: Live<Deployment> | undefined;
  /** Secrets that the spec names for it, with their versions; undefined while one lacks something. */
  readonly followed: Readonly<Record<string, string>> | undefined;
  /** Those that are not there, or what they lack. */
  readonly missing: readonly string[];
}

/** Nothing is there. */
export const NO_DASHBOARDS: DashboardsSeen = {
  present: [],
  deployment: undefined,
  followed: {},
  missing: [],
};

/** Finds everything with the label of the part: objects no longer needed have to be found, too. */
export function observeDashboards(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  ctx: Context,
): DashboardsSeen {
  const { namespace, name } = cluster;
  const key = `${namespace}/${name}`;
  const isOurs = (live: Live): boolean => isControlledBy(live, object) || isKeptPassword(live, cluster);
  const present = ([deployments, services, configMaps, secrets] as readonly Kind[]).flatMap((kind) =>
    ctx
      .store(kind)
      .listBy(byCluster, key)
      .filter((live) => isOurs(live) && isPart(live, cluster))
      .map((live) => presentObject(kind, live)),
  );
  const deployment = ctx.store(deployments).get({ namespace, name: dashboardsNames(cluster).deployment });
  return {
    present,
    deployment: deployment !== undefined && isControlledBy(deployment, object) ? deployment : undefined,
    ...secretsOf(cluster, ctx),
  };
}

/** The one object without an owner reference, because passwords outlive their cluster. */
function isKeptPassword({ kind, metadata: { name, labels } }: Live, cluster: SearchCluster): boolean {
  const isNamedSo = kind === secrets.kind && name === dashboardsNames(cluster).password;
  return isNamedSo && labels?.[ownerLabels.uid] === cluster.uid;
}

/** Its Secrets are made by the lane of certificates, as those of the nodes are; they are known by their names. */
function isPart({ metadata: { name, labels } }: Live, cluster: SearchCluster): boolean {
  const { certificate, password } = dashboardsNames(cluster);
  return labels?.[ownerLabels.part] === "dashboards" || name === certificate || name === password;
}

function secretsOf(
  { dashboards, security }: SearchCluster,
  ctx: Context,
): Pick<DashboardsSeen, "followed" | "missing"> {
  if (dashboards === undefined) return { followed: {}, missing: [] };
  const { credentialsSecret, tlsSecret, isTlsEnabled } = dashboards;
  const wanted = [
    ...(security.isEnabled && credentialsSecret !== undefined
      ? [{ name: credentialsSecret, keys: ["username", "password"] }]
      : []),
    ...(isTlsEnabled && tlsSecret !== undefined ? [{ name: tlsSecret, keys: ["tls.crt", "tls.key"] }] : []),
  ];
  const { live, missing } = followedSecrets(wanted, ctx);
  const versions = live.map((each) => [each.metadata.name, versionOf(each)] as const);
  return { missing, followed: missing.length > 0 ? undefined : Object.fromEntries(versions) };
}

function versionOf({ metadata: { uid, resourceVersion } }: Live): string {
  return `${uid}/${resourceVersion}`;
}
