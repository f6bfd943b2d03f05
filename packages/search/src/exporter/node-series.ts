import { fieldOf, isJsonObject, listOf, textOf } from "@quartermaster/runtime";

import { unreadable } from "../engine/read-response.ts";
import { nodeLimit } from "./cluster-series.ts";
import { numberAt, type Sample, sampleOf, type SeriesSpec } from "./sample.ts";

/** A number of a node's statistics. */
interface Metric extends SeriesSpec {
  readonly path: string;
}

function metric(name: string, path: string, help: string): Metric {
  return { name: `opensearch_${name}`, path, help };
}

/** Numbers that a node has once. Paths in milliseconds become seconds. */
const metrics: readonly Metric[] = [
  metric("indices_doc_number", "indices.docs.count", "Documents"),
  metric("indices_doc_deleted_number", "indices.docs.deleted", "Deleted documents"),
  metric("indices_store_size_bytes", "indices.store.size_in_bytes", "Size of the shards"),
  metric("indices_indexing_index_count", "indices.indexing.index_total", "Documents indexed"),
  metric(
    "indices_indexing_index_time_seconds",
    "indices.indexing.index_time_in_millis",
    "Time spent indexing",
  ),
  metric(
    "indices_indexing_index_current_number",
    "indices.indexing.index_current",
    "Documents being indexed",
  ),
  metric(
    "indices_indexing_index_failed_count",
    "indices.indexing.index_failed",
    "Documents that failed to index",
  ),
  metric("indices_indexing_delete_count", "indices.indexing.delete_total", "Documents deleted"),
  metric("indices_get_count", "indices.get.total", "Documents read by id"),
  metric("indices_get_time_seconds", "indices.get.time_in_millis", "Time spent reading by id"),
  metric("indices_search_query_count", "indices.search.query_total", "Queries"),
  metric("indices_search_query_time_seconds", "indices.search.query_time_in_millis", "Time spent on queries"),
  metric("indices_search_query_current_number", "indices.search.query_current", "Queries that run"),
  metric("indices_search_fetch_count", "indices.search.fetch_total", "Fetches"),
  metric("indices_search_fetch_time_seconds", "indices.search.fetch_time_in_millis", "Time spent on fetches"),
  metric("indices_search_scroll_current_number", "indices.search.scroll_current", "Scrolls that are open"),
  metric("indices_merges_current_number", "indices.merges.current", "Merges that run"),
  metric("indices_merges_total_number", "indices.merges.total", "Merges"),
  metric("indices_merges_total_time_seconds", "indices.merges.total_time_in_millis", "Time spent on merges"),
  metric("indices_refresh_total_count", "indices.refresh.total", "Refreshes"),
  metric(
    "indices_refresh_total_time_seconds",
    "indices.refresh.total_time_in_millis",
    "Time spent on refreshes",
  ),
  metric("indices_flush_total_count", "indices.flush.total", "Flushes"),
  metric("indices_flush_total_time_seconds", "indices.flush.total_time_in_millis", "Time spent on flushes"),
  metric("indices_segments_number", "indices.segments.count", "Segments"),
  metric(
    "indices_fielddata_memory_size_bytes",
    "indices.fielddata.memory_size_in_bytes",
    "Memory of field data",
  ),
  metric("indices_fielddata_evictions_count", "indices.fielddata.evictions", "Evictions of field data"),
  metric("jvm_uptime_seconds", "jvm.uptime_in_millis", "Time since the node started"),
  metric("jvm_mem_heap_used_bytes", "jvm.mem.heap_used_in_bytes", "Heap used"),
  metric("jvm_mem_heap_max_bytes", "jvm.mem.heap_max_in_bytes", "Largest heap"),
  metric("jvm_mem_heap_used_percent", "jvm.mem.heap_used_percent", "Heap used, in percent"),
  metric("jvm_mem_nonheap_used_bytes", "jvm.mem.non_heap_used_in_bytes", "Memory used beside the heap"),
  metric("jvm_threads_number", "jvm.threads.count", "Threads"),
  metric("os_cpu_percent", "os.cpu.percent", "CPU usage of the machine, in percent"),
  metric("os_load_average_one_minute", "os.cpu.load_average.1m", "Load of the machine over a minute"),
  metric("os_mem_total_bytes", "os.mem.total_in_bytes", "Memory of the machine"),
  metric("os_mem_used_percent", "os.mem.used_percent", "Memory of the machine that is used, in percent"),
  metric("process_cpu_percent", "process.cpu.percent", "CPU usage of the node, in percent"),
  metric("process_file_descriptors_open_number", "process.open_file_descriptors", "Files that are open"),
  metric("process_file_descriptors_max_number", "process.max_file_descriptors", "Files that may be open"),
  metric("fs_total_total_bytes", "fs.total.total_in_bytes", "Size of the disks"),
  metric("fs_total_free_bytes", "fs.total.free_in_bytes", "Free bytes on the disks"),
  metric(
    "fs_total_available_bytes",
    "fs.total.available_in_bytes",
    "Bytes on the disks that the node may use",
  ),
  metric("http_open_server_number", "http.current_open", "Connections of clients"),
  metric("transport_rx_bytes_count", "transport.rx_size_in_bytes", "Bytes received from other nodes"),
  metric("transport_tx_bytes_count", "transport.tx_size_in_bytes", "Bytes sent to other nodes"),
];

/** Numbers that a node has for each of a list of names. Names beyond the list are left out: plugins bring pools of their own. */
interface Family {
  /** Where the names are. */
  readonly path: string;
  readonly label: string;
  readonly known: readonly string[];
  readonly metrics: readonly (Metric & { readonly type?: string })[];
}

const families: readonly Family[] = [
  {
    path: "thread_pool",
    label: "name",
    known: [
      "search",
      "write",
      "get",
      "generic",
      "management",
      "refresh",
      "flush",
      "force_merge",
      "snapshot",
      "analyze",
    ],
    metrics: [
      { ...metric("threadpool_threads_number", "threads", "Threads of a pool"), type: "threads" },
      { ...metric("threadpool_threads_number", "active", "Threads of a pool"), type: "active" },
      { ...metric("threadpool_tasks_number", "queue", "Tasks that wait for a pool"), type: "queue" },
      {
        ...metric("threadpool_threads_count", "completed", "Tasks that a pool completed or rejected"),
        type: "completed",
      },
      {
        ...metric("threadpool_threads_count", "rejected", "Tasks that a pool completed or rejected"),
        type: "rejected",
      },
    ],
  },
  {
    path: "breakers",
    label: "name",
    known: ["parent", "request", "fielddata", "in_flight_requests", "accounting"],
    metrics: [
      metric(
        "circuitbreaker_estimated_bytes",
        "estimated_size_in_bytes",
        "Memory that a circuit breaker counts",
      ),
      metric("circuitbreaker_limit_bytes", "limit_size_in_bytes", "Memory at which a circuit breaker trips"),
      metric("circuitbreaker_tripped_count", "tripped", "How often a circuit breaker tripped"),
    ],
  },
  {
    path: "jvm.gc.collectors",
    label: "gc",
    known: ["young", "old", "G1 Concurrent GC"],
    metrics: [
      metric("jvm_gc_collection_count", "collection_count", "Collections of garbage"),
      metric("jvm_gc_collection_time_seconds", "collection_time_in_millis", "Time spent collecting garbage"),
    ],
  },
];

const roleName = "opensearch_node_role_bool";
const leftOut = "quartermaster_search_exporter_nodes_left_out";

/** Every series about single nodes. */
export const nodeSeries: readonly SeriesSpec[] = [
  { name: roleName, help: "Roles of a node" },
  ...metrics,
  ...new Map(families.flatMap((family) => family.metrics.map((each) => [each.name, each] as const))).values(),
  { name: leftOut, help: "Nodes whose metrics are not shown, because there are too many" },
];

/** Roles of a node that are shown. */
const roleLimit = 16;

/** From `_nodes/stats`. */
export function nodeSamples(stats: unknown): readonly Sample[] {
  const nodes = fieldOf(stats, "nodes");
  if (!isJsonObject(nodes)) throw unreadable("nodeLoad", "the response names no nodes");
  const all = Object.entries(nodes);
  return [
    ...all.slice(0, nodeLimit).flatMap(([nodeid, node]) => samplesOfNode(nodeid, node)),
    ...sampleOf(leftOut, Math.max(0, all.length - nodeLimit)),
  ];
}

function samplesOfNode(nodeid: string, stats: unknown): readonly Sample[] {
  const node = textOf(stats, "name") ?? nodeid;
  const labels = { node, nodeid };
  const roles = listOf(stats, "roles").slice(0, roleLimit);
  return [
    ...roles.flatMap((role) =>
      typeof role === "string" ? sampleOf(roleName, 1, { ...labels, role: managerTerm(role) }) : [],
    ),
    ...metrics.flatMap(({ name, path }) => sampleOf(name, inUnits(stats, path), labels)),
    ...families.flatMap((family) => familySamples(family, stats, labels)),
  ];
}

/** One word for both engines. */
function managerTerm(role: string): string {
  return role === "master" ? "cluster_manager" : role;
}

function familySamples(
  { path, label, known, metrics: each }: Family,
  stats: unknown,
  labels: Readonly<Record<string, string>>,
): readonly Sample[] {
  const found = path.split(".").reduce<unknown>((at, field) => fieldOf(at, field), stats);
  return known.flatMap((member) =>
    each.flatMap(({ name, path: field, type }) =>
      sampleOf(name, inUnits(fieldOf(found, member), field), {
        ...labels,
        [label]: member,
        ...(type === undefined ? {} : { type }),
      }),
    ),
  );
}

function inUnits(value: unknown, path: string): number | undefined {
  const found = numberAt(value, path);
  return found !== undefined && path.endsWith("_in_millis") ? found / 1000 : found;
}
