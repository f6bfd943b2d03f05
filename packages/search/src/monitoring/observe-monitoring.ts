import { isIP } from "node:net";

import {
  classify,
  type Context,
  isControlledBy,
  isKindServed,
  type Kind,
  type Live,
} from "@quartermaster/runtime";
import {
  configMaps,
  type Deployment,
  deployments,
  networkPolicies,
  secrets,
  services,
} from "@quartermaster/runtime/kinds";

import { followedSecrets } from "../material/spec-references.ts";
import { queriesOf } from "../model/autoscaling-policy.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import { exporterImage } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { byCluster, ownerLabels } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import { type MonitoringKind, monitoringKindNames, monitoringKinds } from "./monitoring-kinds.ts";

export interface MonitoringSeen {
  /** Kinds of others that the API server serves. */
  readonly served: ReadonlySet<MonitoringKind>;
  /** Everything of it that is ours, whether it is wanted or not. */
  readonly present: readonly PresentObject[];
  /** Address of the Service in front of our own Prometheus; undefined while there is none. */
  readonly prometheusAddress: string | undefined;
  /** Our Deployments by name. */
  readonly deployments: ReadonlyMap<string, Live<Deployment>>;
  /** Secrets that the spec names for it and that are not there, or lack a key. */
  readonly missing: readonly string[];
  /** Versions of those that are there: pods read them when they start. */
  readonly followed: Readonly<Record<string, string>>;
}

/** Nothing is there. */
export const NO_MONITORING: MonitoringSeen = {
  served: new Set(),
  present: [],
  prometheusAddress: undefined,
  deployments: new Map(),
  missing: [],
  followed: {},
};

/**
 * The declaration with the kind of stack that it comes to: where the author says nothing, an API of prometheus-operator means that
 * another Prometheus reads the metrics, and otherwise the cluster gets a stack of its own.
 */
export function withStack(
  cluster: SearchCluster,
  ctx: Pick<Context, "follow">,
  /** The operator's image of the exporter (default: the one that we build). */
  image: string = exporterImage,
): SearchCluster {
  const { monitoring } = cluster;
  if (monitoring === undefined) return cluster;
  const name = monitoring.image.name === exporterImage ? image : monitoring.image.name;
  const mode = monitoring.stack.mode ?? (isServed("ServiceMonitor", ctx) ? "None" : "Standalone");
  return {
    ...cluster,
    monitoring: {
      ...monitoring,
      image: { ...monitoring.image, name },
      stack: { ...monitoring.stack, mode },
    },
  };
}

/** The declaration with where the operator runs, if it queries this cluster's Prometheus: a NetworkPolicy has to let it in. */
export function withQuerier(cluster: SearchCluster, operatorNamespace: string | undefined): SearchCluster {
  const { monitoring, pools } = cluster;
  if (monitoring === undefined || queriesOf(pools).length === 0) return cluster;
  return {
    ...cluster,
    monitoring: { ...monitoring, stack: { ...monitoring.stack, queriedFrom: operatorNamespace } },
  };
}

/** A refused watch counts as not served: monitoring must not block a cluster. */
function isServed(kind: MonitoringKind, ctx: Pick<Context, "follow">): boolean {
  try {
    return isKindServed(monitoringKinds[kind], ctx);
  } catch (error) {
    if (classify(error) === "forbidden") return false;
    throw error;
  }
}

const builtIn: readonly Kind[] = [deployments, services, configMaps, secrets, networkPolicies];

/** Finds everything with the label of the part: objects no longer needed have to be found, too. */
export function observeMonitoring(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  ctx: Context,
): MonitoringSeen {
  const { namespace, name } = cluster;
  const others = monitoringKindNames.map((kind): Kind => monitoringKinds[kind]);
  const found = [...builtIn, ...others].flatMap((kind) =>
    ctx
      .store(kind)
      .listBy(byCluster, `${namespace}/${name}`)
      .filter((live) => isOurs(live, object, cluster))
      .map((live) => ({ kind, live })),
  );
  const running = ctx.store(deployments).listBy(byCluster, `${namespace}/${name}`);
  return {
    served:
      cluster.monitoring === undefined
        ? new Set()
        : new Set(monitoringKindNames.filter((kind) => isServed(kind, ctx))),
    present: found.map(({ kind, live }) => presentObject(kind, live)),
    prometheusAddress: prometheusAddress(object, cluster, ctx),
    deployments: new Map(
      running.flatMap((live) => (isControlledBy(live, object) ? [[live.metadata.name, live] as const] : [])),
    ),
    ...secretsOf(cluster, ctx),
  };
}

/** A Service without an address of its own leads nowhere that we know. */
function prometheusAddress(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  ctx: Context,
): string | undefined {
  const { namespace } = cluster;
  const live = ctx.store(services).get({ namespace, name: monitoringNames(cluster).stack.prometheus });
  const address = live?.spec?.clusterIP ?? "";
  return live !== undefined && isControlledBy(live, object) && isIP(address) !== 0 ? address : undefined;
}

/** Passwords have no owner reference, because they outlive their cluster; they and the certificate are known by their names. */
function isOurs(live: Live, object: Live<ClusterObject>, cluster: SearchCluster): boolean {
  const { labels, name } = live.metadata;
  const { password, grafanaPassword, certificate } = monitoringNames(cluster);
  if (live.kind === secrets.kind && [password, grafanaPassword, certificate].includes(name))
    return labels?.[ownerLabels.uid] === cluster.uid;
  return labels?.[ownerLabels.part] === "monitoring" && isControlledBy(live, object);
}

function secretsOf(
  { monitoring, security }: SearchCluster,
  ctx: Context,
): Pick<MonitoringSeen, "missing" | "followed"> {
  if (monitoring === undefined) return { missing: [], followed: {} };
  const { userSecret, stack } = monitoring;
  const wanted = [
    ...(security.isEnabled && userSecret !== undefined
      ? [{ name: userSecret, keys: ["username", "password"] }]
      : []),
    ...(stack.mode !== "None" && stack.receiversSecret !== undefined
      ? [{ name: stack.receiversSecret, keys: ["alertmanager.yaml"] }]
      : []),
  ];
  const { live, missing } = followedSecrets(wanted, ctx);
  const versions = live.map(({ metadata }) => [metadata.name, metadata.resourceVersion] as const);
  return { missing, followed: Object.fromEntries(versions) };
}
