import type { EngineHealth, EngineIndex, EngineShard } from "../../src/engine/engine-facts.ts";

/** An index of the fake engine. */
export interface FakeIndex {
  readonly name: string;
  readonly shards: number;
  /** Copies besides the primary; `0-1` and `0-all` follow the number of data nodes. */
  readonly replicas: number | "0-1" | "0-all";
  readonly documents: number;
}

/** Where copies may be, and what the clock says. */
export interface AllocationFacts {
  /** Volumes of the data nodes that are members. */
  readonly up: readonly string[];
  /** Volumes that hold no new copies and lose those they have. */
  readonly excluded: ReadonlySet<string>;
  /** Volumes whose copies do not move. */
  readonly stuck: ReadonlySet<string>;
  /** Indices whose replicas no node takes. */
  readonly blocked: ReadonlySet<string>;
  /** `cluster.routing.allocation.enable`. */
  readonly enable: string;
  readonly nowMs: number;
  /** How long a copy takes to recover or to move. */
  readonly recoverMs: number;
}

/** One copy of a shard. */
class Copy {
  readonly index: string;
  readonly shard: number;
  isPrimary: boolean;
  state: EngineShard["state"] = "UNASSIGNED";
  volume: string | undefined;
  target: string | undefined;
  doneMs = 0;

  constructor(index: string, shard: number, isPrimary: boolean) {
    this.index = index;
    this.shard = shard;
    this.isPrimary = isPrimary;
  }

  begin(location: string, doneMs: number): void {
    this.volume = location;
    this.state = "INITIALIZING";
    this.doneMs = doneMs;
  }

  relocate(location: string, doneMs: number): void {
    this.target = location;
    this.state = "RELOCATING";
    this.doneMs = doneMs;
  }

  finish(): void {
    this.volume = this.target ?? this.volume;
    this.target = undefined;
    this.state = "STARTED";
  }

  /** Ends what nodes that are away took part in. */
  lose(up: readonly string[]): void {
    if (this.target !== undefined && !up.includes(this.target)) {
      this.target = undefined;
      this.state = "STARTED";
    }
    if (this.volume === undefined || up.includes(this.volume)) return;
    this.volume = undefined;
    this.target = undefined;
    this.state = "UNASSIGNED";
  }

  takeOverFrom(primary: Copy): void {
    this.isPrimary = true;
    primary.demote();
  }

  demote(): void {
    this.isPrimary = false;
  }
}

/** Where each copy of each shard is. Data stays on a volume that is away, and comes back with it. */
export class FakeShardTable {
  readonly #indices = new Map<string, FakeIndex>();
  #copies: readonly Copy[] = [];
  /** Beginnings of the names of indices that a template is for. */
  #fitted: readonly string[] = [];
  /** Volumes with the data of a shard, by `index/shard`. */
  readonly #data = new Map<string, Set<string>>();

  get indices(): readonly FakeIndex[] {
    return [...this.#indices.values()];
  }

  put(index: FakeIndex): void {
    const isFitted = this.#fitted.some((prefix) => index.name.startsWith(prefix));
    this.#indices.set(index.name, isFitted ? { ...index, replicas: "0-1" } : index);
  }

  /** Has indices follow the number of nodes: by a template those to come, and those that are named. */
  fit(pattern: string, names: readonly string[]): void {
    this.#fitted = [...this.#fitted, pattern.replace("*", "")];
    for (const name of names) {
      const index = this.#indices.get(name);
      if (index !== undefined) this.#indices.set(name, { ...index, replicas: "0-1" });
    }
  }

  /** As the engine's own settings of indices say. */
  indexRows(): readonly EngineIndex[] {
    return this.indices.map(({ name, replicas }) => ({
      name,
      replicas:
        typeof replicas === "number"
          ? replicas
          : this.#copies.filter(({ index, shard }) => index === name && shard === 0).length - 1,
      isAutoExpanded: typeof replicas !== "number",
    }));
  }

  rows(nameOf: (volume: string) => string): readonly EngineShard[] {
    return this.#copies.flatMap(({ index, shard, isPrimary, state, volume, target }) => {
      const node = volume === undefined ? undefined : nameOf(volume);
      const row = { index, shard, isPrimary, state, node };
      if (target === undefined) return [row];
      return [row, { ...row, state: "INITIALIZING" as const, node: nameOf(target) }];
    });
  }

  health(): Pick<
    EngineHealth,
    "status" | "activeShards" | "relocatingShards" | "initializingShards" | "unassignedShards"
  > {
    const count = (state: EngineShard["state"]): number =>
      this.#copies.filter((copy) => copy.state === state).length;
    const inactive = this.#copies.filter(({ state }) => state === "INITIALIZING" || state === "UNASSIGNED");
    const colour = inactive.length === 0 ? "green" : "yellow";
    return {
      status: inactive.some(({ isPrimary }) => isPrimary) ? "red" : colour,
      activeShards: count("STARTED") + count("RELOCATING"),
      relocatingShards: count("RELOCATING"),
      initializingShards: count("INITIALIZING"),
      unassignedShards: count("UNASSIGNED"),
    };
  }

  /** Shards without a copy that serves. */
  lost(): readonly string[] {
    return this.#copies
      .filter((copy) => copy.isPrimary && !isActive(copy.state))
      .map(({ index, shard }) => `${index}[${String(shard)}]`);
  }

  /** Copies and documents on a volume. */
  load(volume: string): { readonly shards: number; readonly documents: number } {
    const held = this.#copies.filter((copy) => copy.volume === volume || copy.target === volume);
    const documents = held.reduce((sum, { index }) => {
      const { documents: all = 0, shards = 1 } = this.#indices.get(index) ?? {};
      return sum + all / shards;
    }, 0);
    return { shards: held.length, documents };
  }

  /** One round of the engine's own allocation; call it until nothing is due. */
  step(facts: AllocationFacts): void {
    for (const copy of this.#copies) copy.lose(facts.up);
    for (const copy of this.#copies) this.#finish(copy, facts.nowMs);
    this.#fitReplicas(facts.up.filter((volume) => !facts.excluded.has(volume)));
    this.#promote();
    const isOff = facts.enable === "none";
    if (isOff) return;
    for (const copy of this.#copies.filter(({ isPrimary }) => isPrimary)) this.#assignPrimary(copy, facts);
    if (facts.enable === "primaries") return;
    for (const copy of this.#copies.filter(({ isPrimary }) => !isPrimary)) this.#assignReplica(copy, facts);
    for (const copy of this.#copies) this.#moveAway(copy, facts);
  }

  #finish(copy: Copy, nowMs: number): void {
    const { volume, target, state } = copy;
    if (volume === undefined || copy.doneMs > nowMs || state === "STARTED") return;
    const holders = this.#holders(copy);
    copy.finish();
    if (target !== undefined) holders.delete(volume);
    holders.add(target ?? volume);
  }

  /** Like the engine, copies that follow the number of nodes do not count those that may hold none. */
  #fitReplicas(allowed: readonly string[]): void {
    const copies: Copy[] = [];
    for (const { name, shards, replicas } of this.#indices.values()) {
      const most = replicas === "0-1" ? 1 : Number.POSITIVE_INFINITY;
      const wanted =
        typeof replicas === "number" ? replicas : Math.max(0, Math.min(most, allowed.length - 1));
      for (let shard = 0; shard < shards; shard += 1)
        copies.push(...this.#fittedCopies(name, shard, { replicas: wanted, allowed }));
    }
    this.#copies = copies;
  }

  /** Keeps what is placed best, and adds what is missing. */
  #fittedCopies(
    index: string,
    shard: number,
    { replicas, allowed }: { readonly replicas: number; readonly allowed: readonly string[] },
  ): readonly Copy[] {
    const known = this.#copies.filter((copy) => copy.index === index && copy.shard === shard);
    const worth = ({ volume }: Copy): number => {
      if (volume === undefined) return 0;
      return allowed.includes(volume) ? 2 : 1;
    };
    const [primary] = known.filter(({ isPrimary }) => isPrimary);
    const others = known
      .filter(({ isPrimary }) => !isPrimary)
      .toSorted((one, other) => worth(other) - worth(one));
    const missing = Math.max(0, replicas - others.length);
    return [
      primary ?? new Copy(index, shard, true),
      ...others.slice(0, replicas),
      ...Array.from({ length: missing }, () => new Copy(index, shard, false)),
    ];
  }

  #promote(): void {
    for (const primary of this.#copies) {
      if (!primary.isPrimary || primary.volume !== undefined) continue;
      const heir = this.#siblings(primary).find(({ state }) => state === "STARTED" || state === "RELOCATING");
      heir?.takeOverFrom(primary);
    }
  }

  #assignPrimary(copy: Copy, facts: AllocationFacts): void {
    if (copy.volume !== undefined) return;
    const holders = this.#holders(copy);
    const location =
      holders.size === 0 ? this.#freeNode(copy, facts) : facts.up.find((volume) => holders.has(volume));
    if (location !== undefined) copy.begin(location, facts.nowMs + facts.recoverMs);
  }

  #assignReplica(copy: Copy, facts: AllocationFacts): void {
    const hasSource = this.#siblings(copy).some(({ isPrimary, state }) => isPrimary && isActive(state));
    if (copy.volume !== undefined || !hasSource || facts.blocked.has(copy.index)) return;
    const location = this.#freeNode(copy, facts);
    if (location !== undefined) copy.begin(location, facts.nowMs + facts.recoverMs);
  }

  #moveAway(copy: Copy, facts: AllocationFacts): void {
    const { volume, state } = copy;
    if (state !== "STARTED" || volume === undefined) return;
    if (!facts.excluded.has(volume) || facts.stuck.has(volume)) return;
    const location = this.#freeNode(copy, facts);
    if (location !== undefined) copy.relocate(location, facts.nowMs + facts.recoverMs);
  }

  /** The allowed node with the fewest copies that has none of this shard. */
  #freeNode(copy: Copy, { up, excluded }: AllocationFacts): string | undefined {
    const taken = new Set([copy, ...this.#siblings(copy)].flatMap(({ volume, target }) => [volume, target]));
    const free = up.filter((volume) => !excluded.has(volume) && !taken.has(volume));
    return free.toSorted((one, other) => this.load(one).shards - this.load(other).shards)[0];
  }

  #siblings(copy: Copy): readonly Copy[] {
    return this.#copies.filter(
      (other) => other !== copy && other.index === copy.index && other.shard === copy.shard,
    );
  }

  #holders({ index, shard }: Copy): Set<string> {
    const key = `${index}/${shard}`;
    const known = this.#data.get(key) ?? new Set<string>();
    this.#data.set(key, known);
    return known;
  }
}

function isActive(state: EngineShard["state"]): boolean {
  return state === "STARTED" || state === "RELOCATING";
}
