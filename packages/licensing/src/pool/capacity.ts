import type { ElasticsearchCluster } from "@quartermaster/api";
import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import type { LicenseParameters } from "@quartermaster/license-selection";

/** One resource unit. */
const unitBytes = 64 * 1024 ** 3;

/** How large a cluster is, in both units of licenses. */
export interface ClusterNeed {
  readonly nodes: number;
  readonly bytes: number;
}

/** Need of a cluster: its spec or its present nodes, whichever is more. */
export function clusterNeed({ spec, status }: ElasticsearchCluster): ClusterNeed {
  const declared = spec.nodePools.reduce((sum, { replicas }) => sum + (replicas ?? 0), 0);
  const { desiredNodes = declared, presentNodes = 0, memoryBytes = 0 } = status?.capacity ?? {};
  return { nodes: Math.max(declared, desiredNodes, presentNodes), bytes: memoryBytes };
}

/** Whether a cluster has nodes that a license would serve: not yet, now, or no longer. */
export type RunState = "notYet" | "running" | "stopped";

/**
 * Derives it from what the search domain reports. A cluster without nodes, or whose engine has not responded for `reservationGraceMs`, has stopped. A license
 * that it runs under is not taken from its engine by that; only its place in the pool becomes free.
 */
export function runState(
  cluster: ElasticsearchCluster,
  nowMs: number,
  { reservationGraceMs }: Pick<LicenseParameters, "reservationGraceMs">,
): RunState {
  if (clusterNeed(cluster).nodes === 0) return "stopped";
  if (nowMs >= silentSinceMs(cluster) + reservationGraceMs) return "stopped";
  return (cluster.status?.capacity?.presentNodes ?? 0) > 0 ? "running" : "notYet";
}

/** Since when no node responds; infinite while one does. A red cluster responds. */
export function silentSinceMs({ status }: Pick<ElasticsearchCluster, "status">): number {
  const available = status?.conditions?.find(({ type }) => type === "Available");
  const isSilent = available?.status === "False" && available.reason !== "ClusterRed";
  const sinceMs = isSilent ? Date.parse(available.lastTransitionTime) : Number.NaN;
  return Number.isNaN(sinceMs) ? Number.POSITIVE_INFINITY : sinceMs;
}

/** Sum of the needs of several clusters. */
export function sumNeeds(needs: Iterable<ClusterNeed>): ClusterNeed {
  let nodes = 0;
  let bytes = 0;
  for (const need of needs) {
    nodes += need.nodes;
    bytes += need.bytes;
  }
  return { nodes, bytes };
}

/** How much of a license is used. */
export interface Capacity {
  readonly used: number;
  readonly limit: number;
  /** With the overdraft. */
  readonly allowed: number;
  /** Before it is rounded. */
  readonly fraction: string;
}

/** Counts in the unit of the license. */
export function capacityOf({ spec }: Pick<EnterpriseLicense, "spec">, need: ClusterNeed): Capacity {
  const { maxInstances, maxResourceUnits = 0, capacityPolicy } = spec;
  const cap = maxInstances ?? maxResourceUnits;
  const limit = Math.min(cap, capacityPolicy?.limit ?? cap);
  const allowed = Math.floor((limit * (100 + (capacityPolicy?.overdraftPercent ?? 0))) / 100);
  if (maxInstances !== undefined) return { used: need.nodes, limit, allowed, fraction: String(need.nodes) };
  return {
    used: Math.ceil(need.bytes / unitBytes),
    limit,
    allowed,
    fraction: (need.bytes / unitBytes).toFixed(3),
  };
}

export interface OtherNeeds {
  readonly all: ClusterNeed;
  /** Those of the same namespace. */
  readonly inNamespace: ClusterNeed;
}

/** Whether a license has room for a cluster besides those that it has. Only `Enforce` holds anything back. */
export function hasRoom(
  license: Pick<EnterpriseLicense, "spec">,
  others: OtherNeeds,
  { need, maxNodes }: { readonly need: ClusterNeed; readonly maxNodes: number | undefined },
): boolean {
  const { capacityPolicy } = license.spec;
  if (capacityPolicy?.mode !== "Enforce") return true;
  const { used, allowed } = capacityOf(license, sumNeeds([others.all, need]));
  const inNamespace = capacityOf(license, sumNeeds([others.inNamespace, need])).used;
  return (
    used <= allowed &&
    inNamespace <= (capacityPolicy.limitPerNamespace ?? Number.POSITIVE_INFINITY) &&
    need.nodes <= (maxNodes ?? Number.POSITIVE_INFINITY)
  );
}
