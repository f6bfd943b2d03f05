/** Which series an expression reads: all, or those of one cluster. */
export interface AlertScope {
  readonly namespace: string;
  readonly cluster: string;
}

/** An alert as Prometheus reads it. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: "critical" | "warning" | "info" };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** Writes a selector: series, and what its labels have to be besides the scope. */
type Select = (series: string, matchers?: string) => string;

interface Alert {
  readonly severity: AlertRule["labels"]["severity"];
  readonly forTime: string;
  readonly expr: (select: Select) => string;
  readonly summary: string;
  readonly description: string;
}

const byCluster = "by (namespace, cluster)";
const byNode = "by (namespace, cluster, node)";
const where = "{{ $labels.namespace }}/{{ $labels.cluster }}";

function clusterMax(select: Select, series: string, matchers?: string): string {
  return `max ${byCluster} (${select(series, matchers)})`;
}

/** Disk usage of each node above a watermark of its cluster. */
function diskAbove(select: Select, watermark: "low" | "flood_stage"): string {
  const available = `min ${byNode} (${select("opensearch_fs_total_available_bytes")})`;
  const total = `max ${byNode} (${select("opensearch_fs_total_total_bytes")})`;
  const limit = clusterMax(select, `opensearch_cluster_routing_allocation_disk_watermark_${watermark}_pct`);
  return `100 * (1 - ${available} / ${total}) > on (namespace, cluster) group_left () ${limit}`;
}

function rejections(select: Select, pool: "search" | "write"): string {
  const rejected = select("opensearch_threadpool_threads_count", `name="${pool}",type="rejected"`);
  return `sum ${byNode} (increase(${rejected}[10m])) > 0`;
}

const alerts: Readonly<Record<string, Alert>> = {
  ClusterRed: {
    severity: "critical",
    forTime: "2m",
    expr: (select) => `${clusterMax(select, "opensearch_cluster_status")} == 2`,
    summary: "A search cluster is red",
    description: `Primary shards of ${where} are missing: searches are incomplete and writes to them fail. \`qm search status\` shows which nodes are away.`,
  },
  ClusterYellowLong: {
    severity: "warning",
    forTime: "30m",
    expr: (select) => `${clusterMax(select, "opensearch_cluster_status")} == 1`,
    summary: "A search cluster has been yellow for half an hour",
    description: `Replicas of ${where} are missing. Either nodes are down, or indices request more copies than there are nodes.`,
  },
  NodeMissing: {
    severity: "warning",
    forTime: "10m",
    expr: (select) =>
      `${clusterMax(select, "quartermaster_search_expected_nodes")} - ${clusterMax(select, "opensearch_cluster_nodes_number")} > 0`,
    summary: "A node of a search cluster is missing",
    description: `${where} has fewer nodes than its spec requests. \`qm search explain\` shows the reason.`,
  },
  QuorumAtRisk: {
    severity: "critical",
    forTime: "5m",
    expr: (select) => {
      const voters = (state: string): string =>
        clusterMax(select, "quartermaster_search_voters", `state="${state}"`);
      return `2 * ${voters("present")} <= ${voters("committed")} + 1 and ${voters("committed")} > 2`;
    },
    summary: "A search cluster cannot lose another manager",
    description: `So many managers of ${where} are away that with one more the cluster stops. Bring them back before anything else.`,
  },
  UnassignedShards: {
    severity: "warning",
    forTime: "30m",
    expr: (select) => `${clusterMax(select, "opensearch_cluster_shards_number", 'type="unassigned"')} > 0`,
    summary: "Shards of a search cluster are not assigned",
    description: `Ask ${where} for the cause with GET _cluster/allocation/explain.`,
  },
  RelocationStuck: {
    severity: "warning",
    forTime: "30m",
    expr: (select) => {
      const relocating = select("opensearch_cluster_shards_number", 'type="relocating"');
      return `min ${byCluster} (min_over_time(${relocating}[1h])) > 0 and max ${byCluster} (changes(${relocating}[1h])) == 0`;
    },
    summary: "Shards of a search cluster move and do not arrive",
    description: `The same number of shards of ${where} has been on its way for an hour. Check disks and network of the nodes.`,
  },
  DiskLow: {
    severity: "warning",
    forTime: "10m",
    expr: (select) => diskAbove(select, "low"),
    summary: "A node of a search cluster gets no more shards",
    description: `The disk of {{ $labels.node }} of ${where} is above the low watermark. Add nodes, enlarge disks or delete indices.`,
  },
  DiskFloodStage: {
    severity: "critical",
    forTime: "1m",
    expr: (select) => diskAbove(select, "flood_stage"),
    summary: "Indices of a search cluster are read-only",
    description: `The disk of {{ $labels.node }} of ${where} is above the flood stage: indices with a shard there take no writes.`,
  },
  HeapHigh: {
    severity: "warning",
    forTime: "15m",
    expr: (select) => `max ${byNode} (${select("opensearch_jvm_mem_heap_used_percent")}) > 85`,
    summary: "The heap of a node is nearly full",
    description: `{{ $labels.node }} of ${where} uses more than 85 % of its heap. Raise it, add nodes, or find large aggregations.`,
  },
  GcOverhead: {
    severity: "warning",
    forTime: "10m",
    expr: (select) =>
      `sum ${byNode} (rate(${select("opensearch_jvm_gc_collection_time_seconds")}[5m])) > 0.1`,
    summary: "A node spends its time collecting garbage",
    description: `{{ $labels.node }} of ${where} spends more than a tenth of its time on garbage.`,
  },
  CpuHigh: {
    severity: "warning",
    forTime: "15m",
    expr: (select) => `max ${byNode} (${select("opensearch_process_cpu_percent")}) > 90`,
    summary: "A node has no CPU left",
    description: `{{ $labels.node }} of ${where} has used more than 90 % of its CPU for a quarter of an hour.`,
  },
  SearchRejections: {
    severity: "warning",
    forTime: "5m",
    expr: (select) => rejections(select, "search"),
    summary: "A node rejects searches",
    description: `The search queue of {{ $labels.node }} of ${where} is full; clients get errors.`,
  },
  WriteRejections: {
    severity: "warning",
    forTime: "5m",
    expr: (select) => rejections(select, "write"),
    summary: "A node rejects writes",
    description: `The write queue of {{ $labels.node }} of ${where} is full; clients have to repeat their writes.`,
  },
  PendingTasksHigh: {
    severity: "warning",
    forTime: "10m",
    expr: (select) => `${clusterMax(select, "opensearch_cluster_pending_tasks_number")} > 100`,
    summary: "The manager of a search cluster does not keep up",
    description: `More than 100 changes wait for the manager of ${where}: too many indices, shards or changes of mappings.`,
  },
  ShardsNearLimit: {
    severity: "warning",
    forTime: "30m",
    expr: (select) => {
      const shards = (type: string): string =>
        clusterMax(select, "opensearch_cluster_shards_number", `type="${type}"`);
      const nodes = clusterMax(select, "opensearch_cluster_datanodes_number");
      const limit = clusterMax(select, "quartermaster_search_max_shards_per_node");
      return `(${shards("active")} + ${shards("unassigned")}) / (${nodes} * ${limit}) > 0.9`;
    },
    summary: "A search cluster can soon create no index",
    description: `${where} has nine tenths of the shards that cluster.max_shards_per_node allows. Delete or shrink indices, or add nodes.`,
  },
  CertificateExpiring: {
    severity: "critical",
    forTime: "1h",
    expr: (select) =>
      `min by (namespace, cluster, layer) (${select("quartermaster_search_certificate_expiry_timestamp_seconds")}) - time() < 7 * 86400`,
    summary: "A certificate of a search cluster ends within a week",
    description: `The {{ $labels.layer }} certificate that nodes of ${where} serve was not renewed, or they have not loaded the new one.`,
  },
  SnapshotTooOld: {
    severity: "warning",
    forTime: "1h",
    expr: (select) =>
      `time() - max by (namespace, cluster, repository) (${select("quartermaster_search_snapshot_last_success_timestamp_seconds")}) > 2 * 86400`,
    summary: "A search cluster has no snapshot of the last two days",
    description: `The newest successful snapshot of ${where} in {{ $labels.repository }} is older than two days, or there is none.`,
  },
  OperatorStalled: {
    severity: "warning",
    forTime: "15m",
    expr: (select) => `max by (cluster) (${select("quartermaster_search_cluster_stalled")}) > 0`,
    summary: "The operator cannot continue with a search cluster",
    description: "Only a user can unblock {{ $labels.cluster }}: `qm search explain` shows how.",
  },
};

/** All alerts. With a scope they read one cluster's series only, so that rules of several clusters do not alert twice. */
export function alertRules(scope?: AlertScope): readonly AlertRule[] {
  const select = selectorFor(scope);
  return Object.entries(alerts).map(([alert, { severity, forTime, expr, summary, description }]) => ({
    alert,
    expr: expr(select),
    for: forTime,
    labels: { severity },
    annotations: { summary, description },
  }));
}

/** The operator names clusters with their namespace; its own namespace is another. */
const ofOperator = "quartermaster_search_cluster_stalled";

function selectorFor(scope: AlertScope | undefined): Select {
  return (series, matchers) => {
    const scoped = scope === undefined ? [] : scopeMatchers(series, scope);
    const all = [...scoped, ...(matchers === undefined ? [] : [matchers])].join(",");
    return all === "" ? series : `${series}{${all}}`;
  };
}

function scopeMatchers(series: string, { namespace, cluster }: AlertScope): readonly string[] {
  return series === ofOperator
    ? [`cluster="${namespace}/${cluster}"`]
    : [`namespace="${namespace}"`, `cluster="${cluster}"`];
}

/** A rule file of Prometheus. */
export function ruleFile(scope?: AlertScope): {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
} {
  const name = scope === undefined ? "quartermaster-search" : `${scope.namespace}-${scope.cluster}`;
  return { groups: [{ name, rules: alertRules(scope) }] };
}
