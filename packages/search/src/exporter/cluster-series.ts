import { fieldOf, isJsonObject, listOf, textOf } from "@quartermaster/runtime";

import { unreadable } from "../engine/read-response.ts";
import { numberAt, type Sample, sampleOf, type SeriesSpec } from "./sample.ts";

const prefix = "opensearch_cluster_";

/** Fields of `_cluster/health` that are metrics of their own. */
const healthMetrics = [
  { name: `${prefix}nodes_number`, help: "Nodes of the cluster", path: "number_of_nodes" },
  { name: `${prefix}datanodes_number`, help: "Data nodes of the cluster", path: "number_of_data_nodes" },
  {
    name: `${prefix}shards_active_percent`,
    help: "Part of the shards that are active",
    path: "active_shards_percent_as_number",
  },
  {
    name: `${prefix}pending_tasks_number`,
    help: "Changes that wait for the manager",
    path: "number_of_pending_tasks",
  },
  { name: `${prefix}inflight_fetch_number`, help: "Unfinished fetches", path: "number_of_in_flight_fetch" },
] as const;

/** Kinds of shards that `_cluster/health` counts. */
const shardTypes = {
  active: "active_shards",
  active_primary: "active_primary_shards",
  relocating: "relocating_shards",
  initializing: "initializing_shards",
  unassigned: "unassigned_shards",
  delayed_unassigned: "delayed_unassigned_shards",
} as const;

const watermarks = ["low", "high", "flood_stage"] as const;

/** Names of series that alerts and tests use too. */
const names = {
  status: `${prefix}status`,
  shards: `${prefix}shards_number`,
  waiting: `${prefix}task_max_waiting_time_seconds`,
  timedOut: `${prefix}is_timedout_bool`,
  maxShards: "quartermaster_search_max_shards_per_node",
  voters: "quartermaster_search_voters",
  nodeShards: "quartermaster_search_node_shards",
  snapshot: "quartermaster_search_snapshot_last_success_timestamp_seconds",
} as const;

/** Every series about a cluster as a whole. Those of the exporter plugin of OpenSearch have its names. */
export const clusterSeries: readonly SeriesSpec[] = [
  { name: names.status, help: "Health of the cluster: 0 green, 1 yellow, 2 red" },
  ...healthMetrics,
  { name: names.shards, help: "Shards by type" },
  { name: names.waiting, help: "How long the oldest change waits for the manager" },
  { name: names.timedOut, help: "Whether the health was not complete in time" },
  ...watermarks.map((each) => ({
    name: watermarkName(each),
    help: `Disk usage at which the watermark ${each} is reached, in percent`,
  })),
  { name: names.maxShards, help: "Shards that a data node may hold" },
  { name: names.voters, help: "Managers whose votes count, and those of them that are there" },
  { name: names.nodeShards, help: "Shards on a node" },
  { name: names.snapshot, help: "When the newest successful snapshot of a repository ended; 0 without one" },
];

function watermarkName(each: (typeof watermarks)[number]): string {
  return `${prefix}routing_allocation_disk_watermark_${each}_pct`;
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  ["green", 0],
  ["yellow", 1],
  ["red", 2],
]);

/** From `_cluster/health`. Throws where the response names no health. */
export function healthSamples(health: unknown): readonly Sample[] {
  const status = statuses.get(fieldOf(health, "status"));
  if (status === undefined) throw unreadable("health", "the response names no health");
  const waitingMs = numberAt(health, "task_max_waiting_in_queue_millis");
  return [
    ...sampleOf(names.status, status),
    ...healthMetrics.flatMap(({ name, path }) => sampleOf(name, numberAt(health, path))),
    ...Object.entries(shardTypes).flatMap(([type, path]) =>
      sampleOf(names.shards, numberAt(health, path), { type }),
    ),
    ...sampleOf(names.waiting, waitingMs === undefined ? undefined : waitingMs / 1000),
    ...sampleOf(names.timedOut, fieldOf(health, "timed_out") === true ? 1 : 0),
  ];
}

/** From `_cluster/settings` with defaults. What was set last wins: transient, persistent, default. */
export function settingSamples(settings: unknown): readonly Sample[] {
  const valueOf = (path: string): unknown =>
    ["transient", "persistent", "defaults"]
      .map((level) =>
        `${level}.${path}`.split(".").reduce<unknown>((at, field) => fieldOf(at, field), settings),
      )
      .find((value) => value !== undefined);
  return [
    ...watermarks.flatMap((each) =>
      sampleOf(watermarkName(each), percentIn(valueOf(`cluster.routing.allocation.disk.watermark.${each}`))),
    ),
    ...sampleOf(names.maxShards, wholeNumber(valueOf("cluster.max_shards_per_node"))),
  ];
}

/** `85%` or `0.85`; a watermark in bytes is no percentage. */
function percentIn(value: unknown): number | undefined {
  const text = String(value);
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) return Number(percent);
  return /^(?:0?\.\d+|1(?:\.0+)?)$/.test(text) ? Number(text) * 100 : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : undefined;
}

/** From the coordination metadata and the nodes of the cluster's state. */
export function voterSamples(state: unknown): readonly Sample[] {
  const coordination = fieldOf(fieldOf(state, "metadata"), "cluster_coordination");
  const nodes = fieldOf(state, "nodes");
  if (!isJsonObject(nodes)) throw unreadable("coordination", "the response names no nodes");
  const committed = listOf(coordination, "last_committed_config");
  const present = committed.filter((id) => typeof id === "string" && Object.hasOwn(nodes, id));
  return [
    ...sampleOf(names.voters, committed.length, { state: "committed" }),
    ...sampleOf(names.voters, present.length, { state: "present" }),
  ];
}

/** Nodes whose metrics are shown; a cluster with more is counted, not listed. */
export const nodeLimit = 200;

/** From `_cat/allocation`. The row of unassigned shards names no node. */
export function allocationSamples(rows: unknown): readonly Sample[] {
  if (!Array.isArray(rows)) throw unreadable("shards", "the response is no table");
  const all: readonly unknown[] = rows;
  return all.slice(0, nodeLimit + 1).flatMap((row) => {
    const node = textOf(row, "node");
    const shards = textOf(row, "shards");
    if (node === undefined || node === "UNASSIGNED") return [];
    return sampleOf(names.nodeShards, wholeNumber(shards), { node });
  });
}

/** Repositories that are looked at. */
const repositoryLimit = 8;

/** Names of the repositories that snapshots are written to, from `_snapshot`. */
export function writableRepositories(repositories: unknown): readonly string[] {
  if (!isJsonObject(repositories)) throw unreadable("snapshots", "the response names no repositories");
  return Object.entries(repositories)
    .filter(([, each]) => String(fieldOf(fieldOf(each, "settings"), "readonly")) !== "true")
    .map(([name]) => name)
    .toSorted()
    .slice(0, repositoryLimit);
}

/** The newest successful one of a repository's snapshots. */
export function snapshotSamples(repository: string, response: unknown): readonly Sample[] {
  const ends = listOf(response, "snapshots").flatMap((each) =>
    fieldOf(each, "state") === "SUCCESS" ? (numberAt(each, "end_time_in_millis") ?? []) : [],
  );
  const newestMs = ends.reduce((newest, end) => Math.max(newest, end), 0);
  return sampleOf(names.snapshot, newestMs / 1000, { repository });
}
