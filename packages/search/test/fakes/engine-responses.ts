import {
  allocationSamples,
  healthSamples,
  settingSamples,
  snapshotSamples,
  voterSamples,
} from "../../src/exporter/cluster-series.ts";
import { exporterSeries } from "../../src/exporter/exporter.ts";
import { nodeSamples } from "../../src/exporter/node-series.ts";
import { pageText, sampleOf } from "../../src/exporter/sample.ts";

const oneNode = {
  name: "logs-nodes-0",
  roles: ["cluster_manager", "data"],
  indices: {
    docs: { count: 12, deleted: 1 },
    store: { size_in_bytes: 4096 },
    indexing: {
      index_total: 12,
      index_time_in_millis: 1500,
      index_current: 0,
      index_failed: 0,
      delete_total: 1,
    },
    get: { total: 3, time_in_millis: 5 },
    search: {
      query_total: 20,
      query_time_in_millis: 250,
      query_current: 0,
      fetch_total: 18,
      fetch_time_in_millis: 20,
      scroll_current: 0,
    },
    merges: { current: 0, total: 2, total_time_in_millis: 30 },
    refresh: { total: 9, total_time_in_millis: 40 },
    flush: { total: 1, total_time_in_millis: 10 },
    segments: { count: 4 },
    fielddata: { memory_size_in_bytes: 0, evictions: 0 },
  },
  os: {
    cpu: { percent: 7, load_average: { "1m": 0.5 } },
    mem: { total_in_bytes: 8_000_000_000, used_percent: 60 },
  },
  process: { open_file_descriptors: 500, max_file_descriptors: 65_536, cpu: { percent: 4 } },
  jvm: {
    uptime_in_millis: 60_000,
    mem: {
      heap_used_in_bytes: 200,
      heap_used_percent: 50,
      heap_max_in_bytes: 400,
      non_heap_used_in_bytes: 100,
    },
    threads: { count: 60 },
    gc: {
      collectors: {
        young: { collection_count: 5, collection_time_in_millis: 90 },
        old: { collection_count: 0, collection_time_in_millis: 0 },
      },
    },
  },
  thread_pool: {
    search: { threads: 4, queue: 0, active: 1, rejected: 0, largest: 4, completed: 40 },
    write: { threads: 2, queue: 1, active: 0, rejected: 2, largest: 2, completed: 30 },
    "pool-of-a-plugin": { threads: 1, queue: 0, active: 0, rejected: 0, largest: 1, completed: 1 },
  },
  fs: { total: { total_in_bytes: 1000, free_in_bytes: 400, available_in_bytes: 300 } },
  transport: { rx_size_in_bytes: 10, tx_size_in_bytes: 20 },
  http: { current_open: 2 },
  breakers: {
    parent: { limit_size_in_bytes: 380, estimated_size_in_bytes: 100, tripped: 0 },
  },
};

/** What an OpenSearch of one node answers to each question of the exporter, by the beginning of the path. */
export const engineResponses: Readonly<Record<string, unknown>> = {
  "/_cluster/health": {
    cluster_name: "logs",
    status: "yellow",
    timed_out: false,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
    active_primary_shards: 3,
    active_shards: 3,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: 1,
    delayed_unassigned_shards: 0,
    number_of_pending_tasks: 0,
    number_of_in_flight_fetch: 0,
    task_max_waiting_in_queue_millis: 1200,
    active_shards_percent_as_number: 75,
  },
  "/_nodes/stats": { nodes: { Xw1: oneNode } },
  "/_cat/allocation": [
    { node: "logs-nodes-0", shards: "3" },
    { node: "UNASSIGNED", shards: "1" },
  ],
  "/_cluster/state": {
    metadata: { cluster_coordination: { last_committed_config: ["Xw1"] } },
    nodes: { Xw1: { name: "logs-nodes-0" } },
  },
  "/_cluster/settings": {
    persistent: { cluster: { max_shards_per_node: "500" } },
    defaults: {
      cluster: {
        max_shards_per_node: "1000",
        routing: {
          allocation: {
            disk: {
              watermark: { low: "85%", high: "90%", flood_stage: "95%", "flood_stage.frozen": "95%" },
            },
          },
        },
      },
    },
  },
  "/_snapshot/nightly/": {
    snapshots: [
      { state: "SUCCESS", end_time_in_millis: 1_700_000_000_000 },
      { state: "PARTIAL", end_time_in_millis: 1_800_000_000_000 },
    ],
  },
  "/_snapshot": {
    nightly: { type: "fs", settings: { location: "/backup" } },
    archive: { type: "fs", settings: { readonly: "true" } },
  },
};

/** The exporter's page for those answers, with every series that it can serve: queries are checked against it. */
export function exporterPage(cluster: string): string {
  const response = (path: string): unknown => engineResponses[path];
  return pageText(
    [
      ...sampleOf("quartermaster_search_exporter_up", 1),
      ...sampleOf("quartermaster_search_exporter_read_success", 1, { part: "health" }),
      ...sampleOf("quartermaster_search_expected_nodes", 1),
      ...sampleOf("quartermaster_search_certificate_expiry_timestamp_seconds", 1_800_000_000, {
        layer: "http",
      }),
      ...healthSamples(response("/_cluster/health")),
      ...nodeSamples(response("/_nodes/stats")),
      ...allocationSamples(response("/_cat/allocation")),
      ...voterSamples(response("/_cluster/state")),
      ...settingSamples(response("/_cluster/settings")),
      ...snapshotSamples("nightly", response("/_snapshot/nightly/")),
    ],
    exporterSeries,
    cluster,
  );
}
