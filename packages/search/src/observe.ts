import { type Context, isControlledBy, type Live, type ObjectRef } from "@quartermaster/runtime";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";

import type { SampleWindows } from "./autoscaling/sample-windows.ts";
import { observeDashboards } from "./dashboards/observe-dashboards.ts";
import { keptObjects } from "./deletion/protection-lane.ts";
import { engineFacts, keepEngineSampling } from "./engine-sampling.ts";
import type { EngineSampler } from "./engine/engine-sampler.ts";
import { readMountedClaims } from "./formation/mounted-claims.ts";
import { objectsOf, type Predecessor } from "./handover/predecessor.ts";
import { withoutEffectNow } from "./ignored-fields/without-effect-now.ts";
import type { LicenseAttempts } from "./license/license-attempts.ts";
import { observeLicense } from "./license/observe-license.ts";
import { observeMaterial } from "./material/observe-material.ts";
import { clusterNames, poolNames } from "./model/cluster-names.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import { observeMonitoring, withQuerier, withStack } from "./monitoring/observe-monitoring.ts";
import { type Children, observeWorkload } from "./observe-workload.ts";
import { byCluster } from "./owner-labels.ts";
import { claimedPods } from "./pools/pools-lane.ts";
import { urlPatterns } from "./repositories/address-refusal.ts";
import { needsSecurityIndexFact, observeSecurity } from "./security-content/observe-security.ts";
import type { Seen } from "./seen.ts";
import { type OperatorPolicy, specIssues } from "./spec-issues.ts";
import { observeGuards } from "./supporting-objects/observe-guards.ts";
import { clusterConfigMaps } from "./workload/cluster-config-maps.ts";
import { clusterServices } from "./workload/cluster-services.ts";
import { bootstrapKey } from "./workload/prepare.ts";

export interface ObserveOptions {
  readonly sampler: EngineSampler;
  readonly policy: OperatorPolicy;
  readonly attempts: LicenseAttempts;
  readonly windows: SampleWindows;
  readonly nowMs: () => number;
  /** Whether an object of the same name in a newer group acts instead. */
  readonly isSuperseded: (object: Live<ClusterObject>, ctx: Context) => boolean;
  /** The object of the same name in an older group. */
  readonly predecessorOf: (object: Live<ClusterObject>, ctx: Context) => Predecessor | undefined;
}

/** Reads everything that the decision needs. */
export async function observe(
  object: Live<ClusterObject>,
  ctx: Context,
  parts: ObserveOptions,
): Promise<Seen> {
  const declared = observeWorkload(object, storedChildren(object, ctx));
  const workload = { ...declared, cluster: withPolicy(declared.cluster, ctx, parts.policy) };
  const { cluster, status, pods: podList } = workload;
  const issues = [...workload.issues, ...specIssues(cluster, parts.policy)];
  const material = observeMaterial(workload, ctx);
  const license = observeLicense(object, cluster, { ctx, attempts: parts.attempts, nowMs: parts.nowMs() });
  const known = { ...workload, material, license };
  const needsSecurityIndex = needsSecurityIndexFact(cluster, ctx, status.clusterUuid !== undefined);
  const engineClient = keepEngineSampling(object, { ...known, needsSecurityIndex }, parts);
  const engine = await engineFacts(known, parts);
  const seen = {
    ...workload,
    issues,
    ignored: [...workload.ignored, ...withoutEffectNow({ ...workload, material })],
    ...handoverSeen(object, ctx, parts),
    autoscaling: parts.windows.of(cluster.uid),
    takenNames: takenNames(object, cluster, ctx),
    kept: keptObjects(cluster, ctx),
    claims: await readMountedClaims(claimedPods(workload), cluster, ctx.client),
    material,
    bootstrapList: bootstrapListOf(object, cluster, ctx),
    engine,
    engineClient,
    license,
    guards: observeGuards(object, cluster, ctx),
    dashboards: observeDashboards(object, cluster, ctx),
    monitoring: observeMonitoring(object, cluster, ctx),
    security: observeSecurity({ cluster, ctx, podList, engine }),
    readAtMs: parts.nowMs(),
  };
  parts.windows.keep(seen);
  return seen;
}

function handoverSeen(
  object: Live<ClusterObject>,
  ctx: Context,
  { isSuperseded, predecessorOf }: ObserveOptions,
): Pick<Seen, "isSuperseded" | "leftToHeir" | "predecessor"> {
  const superseded = isSuperseded(object, ctx);
  return {
    isSuperseded: superseded,
    leftToHeir: superseded ? objectsOf(object, ctx) : [],
    predecessor: predecessorOf(object, ctx),
  };
}

/** The declaration with what the operator's settings make of it. */
function withPolicy(
  cluster: SearchCluster,
  ctx: Context,
  { exporterImage, snapshotHosts = [], operatorNamespace, clusterDomain }: OperatorPolicy,
): SearchCluster {
  const stacked = withQuerier(withStack(cluster, ctx, exporterImage), operatorNamespace);
  return { ...stacked, operatorNamespace, clusterDomain, repositoryUrls: urlPatterns(snapshotHosts) };
}

function storedChildren({ metadata }: Live<ClusterObject>, ctx: Context): Children {
  const key = clusterKey(metadata);
  return {
    sets: ctx.store(statefulSets).listBy(byCluster, key),
    pods: ctx.store(pods).listBy(byCluster, key),
    claims: ctx.store(persistentVolumeClaims).listBy(byCluster, key),
  };
}

/** Value of `byCluster` for a cluster. */
export function clusterKey({ namespace, name }: Pick<SearchCluster, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

function refIn({ namespace }: SearchCluster, name: string): ObjectRef {
  return { namespace, name };
}

function bootstrapListOf(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  ctx: Context,
): Seen["bootstrapList"] {
  const live = ctx.store(configMaps).get(refIn(cluster, clusterNames(cluster).bootstrap));
  if (live === undefined || !isControlledBy(live, object)) return "absent";
  return (live.data?.[bootstrapKey] ?? "").trim() === "" ? "empty" : "filled";
}

/** Names of ours that labeled objects of others have. Unlabeled ones are found when we write. */
function takenNames(object: Live<ClusterObject>, cluster: SearchCluster, ctx: Context): readonly string[] {
  const wanted = [
    ...clusterServices(cluster).map(({ metadata }) => ({ kind: services, name: metadata.name })),
    ...[
      ...clusterConfigMaps(cluster).map(({ metadata }) => metadata.name),
      clusterNames(cluster).bootstrap,
    ].map((name) => ({ kind: configMaps, name })),
    ...cluster.pools.map((pool) => ({ kind: statefulSets, name: poolNames(cluster, pool).statefulSet })),
  ];
  return wanted.flatMap(({ kind, name }) => {
    const live = ctx.store(kind).get(refIn(cluster, name));
    return live === undefined || isControlledBy(live, object) ? [] : [`${kind.kind} ${name}`];
  });
}
