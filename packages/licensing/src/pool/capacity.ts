import type { ElasticsearchCluster } from "@quartermaster/api";
import type { EnterpriseLicense } from "@quartermaster/api/licensing";

/** One resource unit. */
const unitBytes = 64 * 1024 ** 3;

/** How large a cluster is, in both units of licences. */
export interface ClusterNeed {
  readonly nodes: number;
  readonly bytes: number;
}

/** What a cluster needs: what it asks for or what is still there, whichever is more. */
export function clusterNeed({ spec, status }: ElasticsearchCluster): ClusterNeed {
  const declared = spec.nodePools.reduce((sum, { replicas }) => sum + (replicas ?? 0), 0);
  const { desiredNodes = declared, presentNodes = 0, memoryBytes = 0 } = status?.capacity ?? {};
  return { nodes: Math.max(declared, desiredNodes, presentNodes), bytes: memoryBytes };
}

/** What several clusters need together. */
export function sumNeeds(needs: Iterable<ClusterNeed>): ClusterNeed {
  let nodes = 0;
  let bytes = 0;
  for (const need of needs) {
    nodes += need.nodes;
    bytes += need.bytes;
  }
  return { nodes, bytes };
}

/** How much of a licence is used. */
export interface Capacity {
  readonly used: number;
  readonly limit: number;
  /** With the overdraft. */
  readonly allowed: number;
  /** Before it is rounded. */
  readonly fraction: string;
}

/** Counts in the unit of the licence. */
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

/** Whether a licence has room for a cluster besides those that it has. Only `Enforce` holds anything back. */
export function hasRoom(
  license: Pick<EnterpriseLicense, "spec">,
  others: ClusterNeed,
  { need, maxNodes }: { readonly need: ClusterNeed; readonly maxNodes: number | undefined },
): boolean {
  if (license.spec.capacityPolicy?.mode !== "Enforce") return true;
  const { used, allowed } = capacityOf(license, sumNeeds([others, need]));
  return used <= allowed && need.nodes <= (maxNodes ?? Number.POSITIVE_INFINITY);
}
