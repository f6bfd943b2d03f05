import type { NamedField } from "@quartermaster/api";
import { digestOf, type Live } from "@quartermaster/runtime";

import { tlsOf, withRunningTls } from "../certificates/running-tls.ts";
import { imageIssues, otherVersion } from "../model/image-version.ts";
import { type ClusterObject, readCluster } from "../model/read-cluster.ts";
import {
  isManagerPool,
  mostPoolNodes,
  type NodePool,
  podNames,
  type SearchCluster,
  type SpecIssue,
} from "../model/search-cluster.ts";
import { restartOrder, upNode } from "../restart/restart-outdated.ts";
import { specIssues } from "../spec-issues.ts";
import { type FollowedInputs, poolInputsHash } from "../workload/pool-inputs-hash.ts";
import { officialHosts } from "../workload/workload-issues.ts";

/** Effect of an edit on one pool. */
export interface PoolEdit {
  readonly pool: string;
  readonly change: "created" | "grows" | "unchanged" | "shrinks" | "removed";
  /** Nodes before and after. */
  readonly from: number;
  readonly to: number;
  /** Nodes that join. */
  readonly added: readonly string[];
  /** Nodes that run with an older configuration afterwards. */
  readonly outdated: readonly string[];
  /** Other volumes are declared for an existing pool, which keeps those that it has. */
  readonly isStorageChanged: boolean;
}

/** Effect of an edit. */
export interface EditPlan {
  /** While there is one, the operator changes nothing. */
  readonly issues: readonly SpecIssue[];
  /** Fields that have no effect, each with its reason. */
  readonly ignored: readonly NamedField[];
  /** What is allowed and may surprise, each a sentence. */
  readonly warnings: readonly string[];
  readonly pools: readonly PoolEdit[];
  /** Nodes that are drained and removed, in this order, one at a time. */
  readonly removals: readonly string[];
  /** Nodes that restart after that, in this order, one at a time. */
  readonly restarts: readonly string[];
  /** Another version than the nodes run, which is not carried out. */
  readonly heldVersion: string | undefined;
  /** TLS that is declared, in words, but not carried out. */
  readonly heldTls: string | undefined;
  /** The author has paused the cluster: nothing of this happens until that ends. */
  readonly isPaused: boolean;
  /** Pools with auto-scaling: what it has decided so far. */
  readonly autoscaling: readonly PoolScaling[];
}

/** A pool with auto-scaling. */
export interface PoolScaling {
  readonly pool: string;
  readonly mode: "Recommend" | "Auto";
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Left out where there is no response yet. */
  readonly recommendation?: number | undefined;
  readonly limitedBy: readonly string[];
}

/** The content of Secrets is the same before and after: an edit of the spec does not change them. */
const unchanged: FollowedInputs = { keystore: {}, volumes: {} };

/**
 * Says what the operator would make of a declaration, by the functions that it decides with: without a cluster, against an earlier
 * declaration or against nothing. `before` may carry a status, which says how many nodes there really are.
 */
export function planEdit(next: Live<ClusterObject>, before?: Live<ClusterObject>): EditPlan {
  const status = before?.status;
  const { cluster: declared, issues, ignored } = readCluster(withStatus(next, status));
  const known = before === undefined ? undefined : readCluster(before).cluster;
  const { cluster, heldVersion, heldTls } = asRunning(declared, known, status);
  const names = new Set([...cluster.pools, ...(known?.pools ?? [])].map(({ name }) => name));
  const pools = [...names].map((name) => poolEdit(name, { cluster, known, status }));
  return {
    issues: [
      ...issues,
      ...(known === undefined ? imageIssues(declared) : []),
      ...specIssues(declared, { pluginHosts: officialHosts }),
    ],
    ignored,
    warnings: warningsOf(declared, known),
    pools,
    removals: removalsOf(pools, cluster),
    restarts: restartsOf(pools, cluster, status),
    heldVersion,
    heldTls,
    isPaused: cluster.isPaused,
    autoscaling: scalingOf(cluster, status),
  };
}

function warningsOf(
  { pools, serviceName, namespace }: SearchCluster,
  known: SearchCluster | undefined,
): readonly string[] {
  const managers = pools.filter(isManagerPool).reduce((sum, { replicas }) => sum + replicas, 0);
  const [from, to] = [`${known?.serviceName ?? ""}.${namespace}`, `${serviceName}.${namespace}`];
  return [
    ...(managers === 2
      ? [
          "Two nodes can be elected as manager: if one of them fails, the other cannot be elected alone, and the cluster stops. Declare three.",
        ]
      : []),
    ...(known === undefined || known.serviceName === serviceName
      ? []
      : [`The address of the cluster changes from ${from} to ${to}: clients have to use the new one.`]),
  ];
}

/** The declaration with version and TLS as the nodes have them. */
function asRunning(
  declared: SearchCluster,
  known: SearchCluster | undefined,
  status: ClusterObject["status"],
): Pick<EditPlan, "heldVersion" | "heldTls"> & { readonly cluster: SearchCluster } {
  if (known === undefined) return { cluster: declared, heldVersion: undefined, heldTls: undefined };
  const wanted = otherVersion(declared, {
    version: status?.version ?? known.version,
    image: known.image.name,
  });
  const versioned =
    wanted === undefined ? declared : { ...declared, version: known.version, image: known.image };
  const running = status?.clusterUuid === undefined ? undefined : tlsOf(known);
  return {
    ...withRunningTls(versioned, running),
    heldVersion: wanted,
  };
}

/** Decisions stay: the status is that of the cluster, not of a file. */
function withStatus(
  { status: _ofTheFile, ...object }: Live<ClusterObject>,
  status: ClusterObject["status"],
): Live<ClusterObject> {
  return status === undefined ? object : { ...object, status };
}

function scalingOf({ pools }: SearchCluster, status: ClusterObject["status"]): readonly PoolScaling[] {
  return pools.flatMap(({ name, autoscaling }) => {
    if (autoscaling === undefined) return [];
    const { mode, minReplicas, maxReplicas } = autoscaling;
    const row = status?.autoscaling?.pools?.find(({ pool }) => pool === name);
    const { recommendation, limitedBy = [] } = row ?? {};
    return [
      {
        pool: name,
        mode,
        minReplicas,
        maxReplicas,
        recommendation,
        limitedBy,
      },
    ];
  });
}

function removalsOf(pools: readonly PoolEdit[], cluster: SearchCluster): readonly string[] {
  return pools
    .toSorted((one, other) => one.pool.localeCompare(other.pool))
    .flatMap(({ pool, from, to }) =>
      podNames(cluster, { name: pool, replicas: from }).slice(to).toReversed(),
    );
}

/** By the order that the operator restarts in, as if every node were up. Who is elected is known from the status only. */
function restartsOf(
  pools: readonly PoolEdit[],
  cluster: SearchCluster,
  status: ClusterObject["status"],
): readonly string[] {
  const nodes = pools.flatMap(({ pool, outdated, to }) => {
    const declared = cluster.pools.find(({ name }) => name === pool);
    if (declared === undefined) return [];
    return podNames(cluster, { name: pool, replicas: to }).map((name, ordinal) => ({
      name,
      pool,
      ordinal,
      roles: declared.roles,
      isOutdated: outdated.includes(name),
      isElected: status?.nodes?.find((node) => node.name === name)?.elected === true,
    }));
  });
  return restartOrder(nodes.map(upNode)).map(({ name }) => name);
}

interface Sides {
  readonly cluster: SearchCluster;
  readonly known: SearchCluster | undefined;
  readonly status: ClusterObject["status"];
}

function poolEdit(name: string, { cluster, known, status }: Sides): PoolEdit {
  const [now, was] = [cluster, known].map((side) => side?.pools.find((pool) => pool.name === name));
  const from = nodesOf(name, was, status);
  const to = now?.replicas ?? 0;
  const own = now ?? was;
  const all = own === undefined ? [] : podNames(cluster, { ...own, replicas: Math.max(from, to) });
  const isRestarted =
    known !== undefined &&
    now !== undefined &&
    was !== undefined &&
    poolInputsHash(cluster, now, unchanged) !== poolInputsHash(known, was, unchanged);
  return {
    pool: name,
    change: changeOf({ now, was, from, to }),
    from,
    to,
    added: all.slice(from, to),
    outdated: all.slice(0, from).filter((node) => isRestarted || wasOutdated(node, status)),
    isStorageChanged:
      now !== undefined && was !== undefined && digestOf(now.storage) !== digestOf(was.storage),
  };
}

/** Nodes go one at a time, so there may be more of them than were declared. */
function nodesOf(name: string, was: NodePool | undefined, status: ClusterObject["status"]): number {
  const reported = status?.nodePools?.find(({ component }) => component === name)?.target;
  return Math.min(reported ?? was?.replicas ?? 0, mostPoolNodes);
}

function changeOf({
  now,
  was,
  from,
  to,
}: {
  readonly now: NodePool | undefined;
  readonly was: NodePool | undefined;
  readonly from: number;
  readonly to: number;
}): PoolEdit["change"] {
  if (now === undefined) return "removed";
  if (was === undefined && from === 0) return "created";
  if (to > from) return "grows";
  return to < from ? "shrinks" : "unchanged";
}

function wasOutdated(node: string, status: ClusterObject["status"]): boolean {
  return (status?.nodes?.find(({ name }) => name === node)?.outdatedBecause ?? []).length > 0;
}
