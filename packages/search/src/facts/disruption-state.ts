import type { EngineFacts, EngineIndex, EngineShard, ShardExplanation } from "../engine/engine-facts.ts";
import { allocation } from "./allocation.ts";
import { type NodeFacts, nodeFacts, type NodeState } from "./node-facts.ts";

/** Input of checks: the same value from the stores when it is decided, and from live reads right before it is done. */
export interface DisruptionState {
  readonly nodes: readonly NodeFacts[];
  readonly engine: EngineFacts;
  readonly copies: readonly ShardCopies[];
  readonly skipped: ReadonlySet<string>;
}

/** Several rules request the same value, and there may be ten thousand copies to sort. */
const states = new WeakMap<NodeState, DisruptionState>();

/** Prepares the value. Unknown facts stay unknown: `factsKnown` refuses then, and no other check runs. */
export function disruptionState(seen: NodeState): DisruptionState {
  const known = states.get(seen);
  if (known !== undefined) return known;
  const scene = stateOf(seen);
  states.set(seen, scene);
  return scene;
}

function stateOf(seen: NodeState): DisruptionState {
  const { engine, cluster } = seen;
  return {
    nodes: nodeFacts(seen),
    engine,
    copies: shardCopies(engine.shards.isKnown ? engine.shards.value : []),
    skipped: new Set(cluster.requests.skipChecks),
  };
}

/** Why the shards are not at rest; undefined when they are. Copies for which there are too few nodes count as at rest. */
export function unsettledBecause({ engine, copies, nodes }: DisruptionState): string | undefined {
  if (!engine.health.isKnown) return "The health is not known";
  const { status, relocatingShards, initializingShards } = engine.health.value;
  if (status === "red") return "The health is red";
  if (relocatingShards + initializingShards > 0)
    return `${String(relocatingShards + initializingShards)} shards are moving or recovering`;
  const dataNodes = nodes.filter(({ isData, isUp }) => isData && isUp).length;
  const open = copies.filter(({ unassigned, heldBy }) => unassigned > 0 && heldBy.size < dataNodes);
  const placeable = open.filter((copy) => !isImpossible(copy, engine));
  const [first] = placeable;
  if (first === undefined) return undefined;
  const text = explanationOf(first, engine)?.text ?? "";
  return `Copies of ${listShards(placeable)} are not assigned${text === "" ? "" : ` (${text})`}`;
}

/** Rules of the engine that no waiting changes: another node, another version, more room or another setting is needed. */
const lastingRules: ReadonlySet<string> = new Set([
  "awareness",
  "data_tier",
  "disk_threshold",
  "filter",
  "node_version",
  "same_shard",
  "shards_limit",
]);

/** Whether the engine itself says that no node can take the copy as things are. What it was not queried for is not impossible. */
function isImpossible(copy: ShardCopies, engine: EngineFacts): boolean {
  const explanation = explanationOf(copy, engine);
  if (explanation === undefined || explanation.nodes.length === 0) return false;
  // A node that we ourselves empty says no by a filter that goes again.
  const isFiltered = !engine.settings.isKnown || allocation.holdsOurs(engine.settings.value);
  return explanation.nodes.every(({ deciders }) =>
    deciders.some((rule) => lastingRules.has(rule) && !(isFiltered && rule === "filter")),
  );
}

export function explanationOf(
  { index, shard }: Pick<ShardCopies, "index" | "shard">,
  { explanations }: EngineFacts,
): ShardExplanation | undefined {
  if (!explanations.isKnown) return undefined;
  return explanations.value.find((each) => each.index === index && each.shard === shard);
}

/** Some of the shards, by name. */
export function listShards(shards: readonly ShardCopies[]): string {
  const names = shards.slice(0, 3).map(shardName);
  return `${names.join(", ")}${shards.length > 3 ? ` and ${String(shards.length - 3)} more` : ""}`;
}

/** Names of the nodes that are up, without this one. */
export function upBesides({ name }: NodeFacts, nodes: readonly NodeFacts[]): ReadonlySet<string> {
  return new Set(nodes.filter((node) => node.isUp && node.name !== name).map((node) => node.name));
}

/** All copies of one shard. */
export interface ShardCopies {
  readonly index: string;
  readonly shard: number;
  /** Copies that there should be; one that moves counts once. */
  readonly count: number;
  /** Nodes on which any part of a copy is: started, leaving or arriving. */
  readonly heldBy: ReadonlySet<string>;
  /** Nodes with a copy that serves. */
  readonly startedOn: ReadonlySet<string>;
  readonly unassigned: number;
}

/** The shard table by shard, in one pass: there may be ten thousand rows, and each decision begins with it. */
function shardCopies(rows: readonly EngineShard[]): readonly ShardCopies[] {
  const byIndex = new Map<string, Map<number, Copies>>();
  const all: Copies[] = [];
  for (const row of rows) {
    const { index, shard } = row;
    const ofIndex = byIndex.get(index) ?? new Map<number, Copies>();
    byIndex.set(index, ofIndex);
    const known = ofIndex.get(shard);
    const copies = known ?? {
      index,
      shard,
      count: 0,
      heldBy: new Set(),
      startedOn: new Set(),
      unassigned: 0,
    };
    if (known === undefined) {
      ofIndex.set(shard, copies);
      all.push(copies);
    }
    // A copy that moves has a second row at the node that it goes to.
    if (row.state !== "RELOCATING") copies.count += 1;
    if (row.state === "UNASSIGNED") copies.unassigned += 1;
    addNode(copies, row);
  }
  return all;
}

/** The copies of a shard while its rows are counted. */
interface Copies {
  readonly index: string;
  readonly shard: number;
  count: number;
  readonly heldBy: Set<string>;
  readonly startedOn: Set<string>;
  unassigned: number;
}

function addNode({ heldBy, startedOn }: Copies, { state, node }: EngineShard): void {
  if (state === "UNASSIGNED" || node === undefined) return;
  heldBy.add(node);
  if (state !== "INITIALIZING") startedOn.add(node);
}

/** How a shard is called in messages. */
export function shardName({ index, shard }: Pick<ShardCopies, "index" | "shard">): string {
  return `${index}[${String(shard)}]`;
}

/** Names of the indices whose number of copies the engine fits to the nodes on its own. */
export function autoExpanded(indices: readonly EngineIndex[]): ReadonlySet<string> {
  return new Set(indices.filter(({ isAutoExpanded }) => isAutoExpanded).map(({ name }) => name));
}
