/** A panel of a dashboard. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit?: string;
  readonly kind?: "timeseries" | "stat";
  /** Labels of values that are no quantities. */
  readonly labels?: readonly {
    readonly value: number;
    readonly text: string;
    readonly color: "green" | "yellow" | "red";
  }[];
  readonly queries: readonly (readonly [expr: string, legend: string])[];
}

/** Chosen at the top of the page. */
const chosen = 'namespace=~"$namespace",cluster=~"$cluster"';
const byCluster = "by (namespace, cluster)";
const byNode = "by (namespace, cluster, node)";

function ofCluster(series: string, title: string, more: Partial<Panel> & { description: string }): Panel {
  return { title, queries: [[`max ${byCluster} (${series}{${chosen}})`, "{{cluster}}"]], ...more };
}

function ofNode(series: string, title: string, more: Partial<Panel> & { description: string }): Panel {
  return { title, queries: [[`max ${byNode} (${series}{${chosen}})`, "{{node}}"]], ...more };
}

/** How often, each second. */
function ratePanel(series: string, title: string, description: string): Panel {
  const expr = `sum ${byNode} (rate(${series}{${chosen}}[5m]))`;
  return { title, description, unit: "ops", queries: [[expr, "{{node}}"]] };
}

/** Time of one operation, on average. */
function timePanel(what: string, title: string, description: string): Panel {
  const rate = (series: string): string => `sum ${byNode} (rate(${series}{${chosen}}[5m]))`;
  const expr = `${rate(`${what}_time_seconds`)} / (${rate(`${what}_count`)} > 0)`;
  return { title, description, unit: "s", queries: [[expr, "{{node}}"]] };
}

function shardsPanel(): Panel {
  const expr = `max by (namespace, cluster, type) (opensearch_cluster_shards_number{${chosen}})`;
  return {
    title: "Shards",
    description: "By state; unassigned ones have no node.",
    queries: [[expr, "{{cluster}} {{type}}"]],
  };
}

const overview: readonly Panel[] = [
  ofCluster("opensearch_cluster_status", "Health", {
    kind: "stat",
    description: "Yellow: replicas are missing. Red: primary shards are missing.",
    labels: [
      { value: 0, text: "green", color: "green" },
      { value: 1, text: "yellow", color: "yellow" },
      { value: 2, text: "red", color: "red" },
    ],
  }),
  {
    title: "Nodes",
    description: "Nodes that are members, and those that the spec requests.",
    queries: [
      [`max ${byCluster} (opensearch_cluster_nodes_number{${chosen}})`, "{{cluster}} members"],
      [`max ${byCluster} (quartermaster_search_expected_nodes{${chosen}})`, "{{cluster}} expected"],
    ],
  },
  {
    title: "Managers that vote",
    description: "Whose votes count, and those of them that are there.",
    queries: [
      [
        `max by (namespace, cluster, state) (quartermaster_search_voters{${chosen}})`,
        "{{cluster}} {{state}}",
      ],
    ],
  },
  shardsPanel(),
  ofCluster("opensearch_cluster_pending_tasks_number", "Changes that wait for the manager", {
    description: "A number that does not fall means too many indices or mappings.",
  }),
  {
    title: "Documents",
    description: "On all nodes, replicas included.",
    queries: [[`sum ${byCluster} (opensearch_indices_doc_number{${chosen}})`, "{{cluster}}"]],
  },
  {
    title: "Size",
    description: "Of all shards, replicas included.",
    unit: "bytes",
    queries: [[`sum ${byCluster} (opensearch_indices_store_size_bytes{${chosen}})`, "{{cluster}}"]],
  },
  {
    title: "Days until the certificate ends",
    description: "Of the certificate that nodes serve to clients; alerts begin at 7 days.",
    unit: "d",
    queries: [
      [
        `(min by (namespace, cluster, layer) (quartermaster_search_certificate_expiry_timestamp_seconds{${chosen}}) - time()) / 86400`,
        "{{cluster}} {{layer}}",
      ],
    ],
  },
  {
    title: "Hours since the last snapshot",
    description: "Of each repository; alerts begin at 48 hours.",
    unit: "h",
    queries: [
      [
        `(time() - max by (namespace, cluster, repository) (quartermaster_search_snapshot_last_success_timestamp_seconds{${chosen}})) / 3600`,
        "{{cluster}} {{repository}}",
      ],
    ],
  },
];

const nodes: readonly Panel[] = [
  ofNode("opensearch_process_cpu_percent", "CPU", {
    unit: "percent",
    description: "Of the engine's process.",
  }),
  ofNode("opensearch_jvm_mem_heap_used_percent", "Heap", {
    unit: "percent",
    description: "Alerts begin at 85 %.",
  }),
  {
    title: "Time spent on garbage",
    description: "Part of the time; alerts begin at a tenth.",
    unit: "percentunit",
    queries: [[`sum ${byNode} (rate(opensearch_jvm_gc_collection_time_seconds{${chosen}}[5m]))`, "{{node}}"]],
  },
  {
    title: "Disk",
    description: "Part of the disk that is used.",
    unit: "percentunit",
    queries: [
      [
        `1 - min ${byNode} (opensearch_fs_total_available_bytes{${chosen}}) / max ${byNode} (opensearch_fs_total_total_bytes{${chosen}})`,
        "{{node}}",
      ],
    ],
  },
  ofNode("quartermaster_search_node_shards", "Shards", { description: "Copies of shards on each node." }),
  ofNode("opensearch_os_load_average_one_minute", "Load of the machine", { description: "Over a minute." }),
  ofNode("opensearch_process_file_descriptors_open_number", "Open files", {
    description: "Files and connections.",
  }),
  ofNode("opensearch_jvm_uptime_seconds", "Time since the start", {
    unit: "s",
    description: "Of each node.",
  }),
  ratePanel(
    "opensearch_transport_tx_bytes_count",
    "Bytes sent to other nodes",
    "A recovery shows as a peak.",
  ),
  {
    title: "Circuit breakers that tripped",
    description: "Requests that were refused to save memory.",
    queries: [
      [
        `sum by (namespace, cluster, node, name) (increase(opensearch_circuitbreaker_tripped_count{${chosen}}[10m]))`,
        "{{node}} {{name}}",
      ],
    ],
  },
];

const traffic: readonly Panel[] = [
  ratePanel(
    "opensearch_indices_indexing_index_count",
    "Documents indexed",
    "Each second, replicas included.",
  ),
  timePanel("opensearch_indices_indexing_index", "Time to index a document", "On average."),
  ratePanel("opensearch_indices_search_query_count", "Queries", "Each second and shard."),
  timePanel("opensearch_indices_search_query", "Time of a query", "On average and per shard."),
  timePanel("opensearch_indices_search_fetch", "Time of a fetch", "On average and per shard."),
  {
    title: "Rejected tasks",
    description: "Clients get an error for each of them.",
    unit: "ops",
    queries: [
      [
        `sum by (namespace, cluster, node, name) (rate(opensearch_threadpool_threads_count{${chosen},type="rejected"}[5m]))`,
        "{{node}} {{name}}",
      ],
    ],
  },
  {
    title: "Queues",
    description: "Tasks that wait for a thread.",
    queries: [
      [
        `max by (namespace, cluster, node, name) (opensearch_threadpool_tasks_number{${chosen},type="queue"})`,
        "{{node}} {{name}}",
      ],
    ],
  },
  ratePanel("opensearch_indices_refresh_total_count", "Refreshes", "Each second."),
  ofNode("opensearch_indices_merges_current_number", "Merges", { description: "That run now." }),
  ofNode("opensearch_indices_segments_number", "Segments", { description: "On each node." }),
  ratePanel("opensearch_indices_indexing_index_failed_count", "Documents that failed", "Each second."),
];

const operator: readonly Panel[] = [
  {
    title: "Clusters that only a user can unblock",
    description: "1 means stalled; `qm search explain` says why.",
    queries: [['max by (cluster) (quartermaster_search_cluster_stalled{cluster=~".+"})', "{{cluster}}"]],
  },
  {
    title: "Operations on nodes",
    description: "Restarted, repaired and removed, in an hour.",
    queries: [
      ['sum by (type) (increase(quartermaster_search_operations_total{type=~".+"}[1h]))', "{{type}}"],
    ],
  },
  {
    title: "Requests to engines",
    description: "Each second, by operation.",
    unit: "reqps",
    queries: [
      ['sum by (call) (rate(quartermaster_search_engine_requests_total{call=~".+"}[5m]))', "{{call}}"],
    ],
  },
  {
    title: "Requests to engines that failed",
    description: "Each second, by what went wrong.",
    unit: "reqps",
    queries: [
      ['sum by (result) (rate(quartermaster_search_engine_requests_total{result!="ok"}[5m]))', "{{result}}"],
    ],
  },
  {
    title: "Exporters that reach their engine",
    description: "0 means that the engine does not tell its health.",
    queries: [
      [`max ${byCluster} (quartermaster_search_exporter_up{${chosen}})`, "{{namespace}}/{{cluster}}"],
    ],
  },
  {
    title: "Parts that exporters cannot read",
    description: "Parts with 0 are missing on the other dashboards.",
    queries: [
      [
        `min by (namespace, cluster, part) (quartermaster_search_exporter_read_success{${chosen}})`,
        "{{cluster}} {{part}}",
      ],
    ],
  },
];

/** The panels of each dashboard, by the name of its file. */
export const dashboardPanels = {
  overview: { title: "overview", panels: overview },
  nodes: { title: "nodes", panels: nodes },
  traffic: { title: "indexing and search", panels: traffic },
  operator: { title: "operator", panels: operator },
} as const;
