import type { EngineIndex, EngineShard } from "../engine/engine-facts.ts";

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
export function shardCopies(rows: readonly EngineShard[]): readonly ShardCopies[] {
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

/** Names of the indices whose number of copies the engine fits to the nodes by itself. */
export function autoExpanded(indices: readonly EngineIndex[]): ReadonlySet<string> {
  return new Set(indices.filter(({ isAutoExpanded }) => isAutoExpanded).map(({ name }) => name));
}
