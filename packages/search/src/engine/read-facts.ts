import { fieldOf, isJsonObject, listOf, textOf } from "@quartermaster/runtime";
import { z } from "zod";

import { EngineError } from "./engine-error.ts";
import type {
  Coordination,
  EngineHealth,
  EngineIdentity,
  EngineIndex,
  EngineNode,
  EngineSettings,
  EngineShard,
  NodeLoad,
} from "./engine-facts.ts";
import { parseShape, unreadable } from "./read-response.ts";

/** Facts in responses of the REST API. Each throws `unreadable` for a response that is not what the API promises. */
export const readFacts = {
  health: readHealth,
  nodes: readNodes,
  identity: readIdentity,
  coordination: readCoordination,
  shards: readShards,
  settings: readSettings,
  nodeLoad: readNodeLoad,
  indices: readIndices,
};

const count = z.number().int().nonnegative();

const healthShape = z.object({
  status: z.enum(["green", "yellow", "red"]),
  number_of_nodes: count,
  number_of_data_nodes: count,
  active_shards: count,
  relocating_shards: count,
  initializing_shards: count,
  unassigned_shards: count,
  number_of_pending_tasks: count,
  timed_out: z.boolean().optional(),
});

/** From `_cluster/health`. */
function readHealth(value: unknown): EngineHealth {
  const health = parseShape(healthShape, value, "health");
  // What a manager knew before it stopped responding is not the health now.
  if (health.timed_out === true)
    throw new EngineError("health: the manager did not respond in time", { code: "timeout" });
  return {
    status: health.status,
    nodes: health.number_of_nodes,
    dataNodes: health.number_of_data_nodes,
    activeShards: health.active_shards,
    relocatingShards: health.relocating_shards,
    initializingShards: health.initializing_shards,
    unassignedShards: health.unassigned_shards,
    pendingTasks: health.number_of_pending_tasks,
  };
}

const nodeTable = z.object({
  _nodes: z.object({ total: count, failed: count }),
  nodes: z.record(z.string(), z.unknown()),
});

const infoShape = nodeTable.extend({ cluster_name: z.string() });

const infoNode = z.object({ name: z.string(), version: z.string(), roles: z.array(z.string()).optional() });

/** One after the other: the first that is wrong ends it, and a hostile table of wrong ones costs no more than a good one. */
function entriesOf<T>(
  nodes: Readonly<Record<string, unknown>>,
  shape: z.ZodType<T>,
  what: string,
): readonly (readonly [string, T])[] {
  return Object.entries(nodes).map(([id, node]) => [id, parseShape(shape, node, what)]);
}

/** From `_nodes` and the elected node of the cluster's state. A node that did not respond makes the whole unknown. */
function readNodes(info: unknown, state: unknown): readonly EngineNode[] {
  const { _nodes, nodes } = parseShape(infoShape, info, "nodes");
  if (_nodes.failed > 0) throw partial("nodes", _nodes);
  const elected = electedIn(state);
  return entriesOf(nodes, infoNode, "nodes").map(([id, { name, version, roles = [] }]) => ({
    id,
    name,
    version,
    roles: roles.map((role) => (role === "master" ? "cluster_manager" : role)),
    isElected: id === elected,
  }));
}

const stateShape = z.object({ cluster_name: z.string(), cluster_uuid: z.string() });

/** From `_nodes/_local` and the node's own view of the cluster's state. */
function readIdentity(info: unknown, state: unknown): EngineIdentity {
  const { nodes, cluster_name: clusterName } = parseShape(infoShape, info, "identity");
  const [own] = entriesOf(nodes, infoNode, "identity").map(([, node]) => node);
  if (own === undefined) throw unreadable("identity", "the node does not name itself");
  const { cluster_uuid: uuid } = parseShape(stateShape, state, "identity");
  return {
    node: own.name,
    version: own.version,
    clusterName,
    clusterUuid: uuid === noUuid ? undefined : uuid,
    hasVoters: listOf(coordinationIn(state), "last_committed_config").length > 0,
  };
}

/** An engine's name for a cluster that is not formed. */
const noUuid = "_na_";

/** From the cluster's state. */
function readCoordination(state: unknown): Coordination {
  const { cluster_uuid: clusterUuid } = parseShape(stateShape, state, "coordination");
  const metadata = coordinationIn(state);
  if (!isJsonObject(metadata)) throw unreadable("coordination", "the response names no voters");
  const names = namesIn(state);
  const elected = electedIn(state);
  const voters = texts(listOf(metadata, "last_committed_config"));
  // A cluster that has formed has voters. Without this, a removed vote would be seen where nothing is known.
  if (voters.length === 0) throw unreadable("coordination", "the response names no voters");
  return {
    clusterUuid,
    voters: voters.map((id) => names.get(id) ?? id),
    exclusions: listOf(metadata, "voting_config_exclusions").map(excludedName),
    elected: elected === undefined ? undefined : (names.get(elected) ?? elected),
  };
}

/** One without a name would be cleared with ours, because nothing says whose it is. */
function excludedName(entry: unknown): string {
  const name = textOf(entry, "node_name");
  if (name === undefined) throw unreadable("coordination", "a vote exclusion has no name");
  return name;
}

/** From the routing table: one walk without a schema, for there may be ten thousand copies. */
function readShards(state: unknown): readonly EngineShard[] {
  const indices = fieldOf(fieldOf(state, "routing_table"), "indices");
  // With `filter_path` an engine omits empty values, so a cluster without an index has no table at all.
  if (indices === undefined && isJsonObject(fieldOf(state, "nodes"))) return [];
  if (!isJsonObject(indices)) throw unreadable("shards", "the response has no routing table");
  const names = namesIn(state);
  const rows: EngineShard[] = [];
  for (const index of Object.values(indices)) {
    const shards = fieldOf(index, "shards");
    if (!isJsonObject(shards)) throw unreadable("shards", "an index has no shards");
    for (const copies of Object.values(shards)) {
      if (!Array.isArray(copies)) throw unreadable("shards", "a shard has no copies");
      for (const copy of copies) rows.push(...readCopy(copy, names));
    }
  }
  return rows;
}

const copyShape = z.object({
  index: z.string(),
  shard: count,
  primary: z.boolean(),
  state: z.enum(["STARTED", "RELOCATING", "INITIALIZING", "UNASSIGNED"]),
  node: z.string().nullish(),
  relocating_node: z.string().nullish(),
});

function readCopy(value: unknown, names: ReadonlyMap<string, string>): readonly EngineShard[] {
  const copy = parseShape(copyShape, value, "shards");
  const { index, shard, state, node, relocating_node: target } = copy;
  if ((state === "UNASSIGNED") !== (node === null || node === undefined))
    throw unreadable("shards", `a copy that is ${state} has a node or none against its state`);
  const nameOf = (id: string | null | undefined): string | undefined =>
    typeof id === "string" ? (names.get(id) ?? id) : undefined;
  const row = { index, shard, isPrimary: copy.primary, state, node: nameOf(node) };
  if (state !== "RELOCATING") return [row];
  return [row, { ...row, state: "INITIALIZING", node: nameOf(target) }];
}

const settingsShape = z.object({
  persistent: z.record(z.string(), z.unknown()),
  transient: z.record(z.string(), z.unknown()),
});

/** From `_cluster/settings` in its flat form. A list is written as one text with commas. */
function readSettings(value: unknown): EngineSettings {
  const { persistent, transient } = parseShape(settingsShape, value, "settings");
  return { persistent: flat(persistent), transient: flat(transient) };
}

function flat(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.join(",") : String(value),
    ]),
  );
}

const loadNode = z.object({
  name: z.string(),
  indices: z.object({
    docs: z.object({ count }),
    store: z.object({ size_in_bytes: count }),
    shards: z.record(z.string(), z.unknown()).optional(),
  }),
  fs: z.object({
    total: z.object({ total_in_bytes: count.optional(), available_in_bytes: count.optional() }),
  }),
  jvm: z.object({ mem: z.object({ heap_used_percent: count }) }),
  process: z.object({ cpu: z.object({ percent: z.number() }) }),
  thread_pool: z
    .object({
      search: z.object({ queue: count }).optional(),
      write: z.object({ rejected: count }).optional(),
    })
    .optional(),
});

/** Copies of shards on a node, of which each index has a list. */
function copiesIn(indices: Readonly<Record<string, unknown>>): number {
  return Object.values(indices).reduce<number>((sum, copies) => {
    if (!Array.isArray(copies)) throw unreadable("nodeLoad", "an index has no shards");
    return sum + copies.length;
  }, 0);
}

/** From the nodes' statistics. A node that did not respond makes the whole unknown. */
function readNodeLoad(value: unknown): readonly NodeLoad[] {
  const { _nodes, nodes } = parseShape(nodeTable, value, "nodeLoad");
  if (_nodes.failed > 0) throw partial("nodeLoad", _nodes);
  const entries = entriesOf(nodes, loadNode, "nodeLoad").map(([, node]) => node);
  return entries.map(({ name, indices, fs, jvm, process: { cpu }, thread_pool: threads }) => ({
    node: name,
    shards: copiesIn(indices.shards ?? {}),
    documents: indices.docs.count,
    storeBytes: indices.store.size_in_bytes,
    diskTotalBytes: fs.total.total_in_bytes,
    diskFreeBytes: fs.total.available_in_bytes,
    heapPercent: jvm.mem.heap_used_percent,
    // An engine that cannot tell says -1.
    cpuPercent: cpu.percent < 0 ? undefined : cpu.percent,
    searchQueue: threads?.search?.queue,
    writeRejections: threads?.write?.rejected,
  }));
}

const indexShape = z.object({
  settings: z.object({
    index: z.object({
      number_of_replicas: z.string().regex(/^\d{1,6}$/),
      auto_expand_replicas: z.string().optional(),
    }),
  }),
});

/** From the settings of all indices. */
function readIndices(value: unknown): readonly EngineIndex[] {
  if (!isJsonObject(value)) throw unreadable("indices", "the response is no object");
  return Object.entries(value).map(([name, settings]) => {
    const { index } = parseShape(indexShape, settings, "indices").settings;
    const { number_of_replicas: replicas, auto_expand_replicas: range = "false" } = index;
    return { name, replicas: Number(replicas), isAutoExpanded: range !== "false" };
  });
}

function partial(
  what: string,
  { failed, total }: { readonly failed: number; readonly total: number },
): Error {
  return new EngineError(`${what}: ${failed} of ${total} nodes did not respond`, { code: "unavailable" });
}

function coordinationIn(state: unknown): unknown {
  return fieldOf(fieldOf(state, "metadata"), "cluster_coordination");
}

function electedIn(state: unknown): string | undefined {
  return textOf(state, "cluster_manager_node") ?? textOf(state, "master_node");
}

function namesIn(state: unknown): ReadonlyMap<string, string> {
  const nodes = fieldOf(state, "nodes");
  const entries = isJsonObject(nodes) ? Object.entries(nodes) : [];
  return new Map(entries.map(([id, node]) => [id, textOf(node, "name") ?? id]));
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === "string");
}
