import type { System } from "@quartermaster/runtime";

import type { ConnectEngine, EngineCall, SecurityEntityType } from "../../src/engine/engine-client.ts";
import { EngineError } from "../../src/engine/engine-error.ts";
import type { EngineShard, NodeLoad } from "../../src/engine/engine-facts.ts";
import type { Distribution } from "../../src/model/distribution-facts.ts";
import { FakeClient } from "./fake-client.ts";
import { FakeCluster } from "./fake-cluster.ts";
import { FakeFaults } from "./fake-faults.ts";
import { FakeLicense } from "./fake-license.ts";
import { FakeNode, type FakePod, isDataNode, isManager } from "./fake-pod.ts";
import type { FakeIndex } from "./fake-shard-table.ts";

/** How a fake engine behaves. */
export interface FakeEngineOptions {
  readonly system: Pick<System, "monotonicMs" | "wallMs" | "sleep" | "uuid">;
  readonly distribution: Distribution;
  /** The pods of one search cluster as they are now; asked with every call. */
  readonly pods: () => readonly FakePod[];
  /** How long a copy of a shard takes to recover or move (default: 2 s). */
  readonly recoverMs?: number;
  /** How long after its start a node answers (default: immediately). */
  readonly startMs?: number;
  /** How long a node takes to notice the security index (default: 13 s, as measured). */
  readonly securityPollMs?: number;
  /** Told of every call. */
  readonly onCall?: (call: EngineCall | "servedCertificate", node: string | undefined) => void;
}

/** A formed cluster at one moment, by names of nodes. */
export interface FakeState {
  readonly members: readonly string[];
  readonly voters: readonly string[];
  readonly shards: readonly EngineShard[];
}

/**
 * The engine of one search cluster without processes: its nodes are the pods that it is told of, its time is the system's. Forms,
 * splits, loses its quorum and keeps its data on volumes as real ones do; the contract suite holds it to them.
 *
 * @example
 * const engine = new FakeEngine({ system, distribution: "opensearch", pods: () => podsOf(store) });
 * const client = engine.connect(target);
 * engine.faults.plan({ call: "shards", fault: { kind: "lie", value: [] } });
 */
export class FakeEngine {
  readonly faults = new FakeFaults();
  /** Names of nodes whose shards do not move, whatever is excluded. */
  readonly holdsShards = new Set<string>();
  /** Indices whose replicas no node takes, each with the rule that says so, e.g. `node_version`. */
  readonly blockedIndices = new Map<string, string>();
  /** Names of repositories that nodes cannot use. */
  readonly unusableRepositories = new Set<string>();
  /** Documents of the security index that can be written: with fewer than all, initialization breaks off after them. */
  mostDocuments = Number.POSITIVE_INFINITY;
  /** What the statistics of every node say, besides what it holds. */
  load: Partial<Omit<NodeLoad, "node" | "shards" | "documents">> = {};
  readonly options: Required<Omit<FakeEngineOptions, "onCall">> & Pick<FakeEngineOptions, "onCall">;
  readonly #nodes = new Map<string, FakeNode>();
  /** UUID that a volume belongs to. */
  readonly #disks = new Map<string, string>();
  readonly #clusters = new Map<string, FakeCluster>();
  /** Last name of the node on a volume. */
  readonly #names = new Map<string, string>();

  constructor(options: FakeEngineOptions) {
    this.options = { recoverMs: 2_000, startMs: 0, securityPollMs: 13_000, ...options };
  }

  readonly connect: ConnectEngine = (target) => new FakeClient(this, target);

  /** Every cluster that was ever formed: more than one is a split, or data given up. */
  get uuids(): readonly string[] {
    return [...this.#clusters.keys()];
  }

  /** Creates an index in the cluster that the node is in. */
  createIndex(node: string, index: FakeIndex): void {
    this.step();
    this.clusterOf(this.node(node)).shards.put(index);
    this.step();
  }

  /** Settings of the cluster that has a manager. */
  settings(): FakeCluster["settings"] {
    return this.#led()?.settings ?? { persistent: {}, transient: {} };
  }

  /** Changes settings as another client would. */
  putSettings(changes: Parameters<FakeCluster["putSettings"]>[0]): void {
    this.#led()?.putSettings(changes);
  }

  /** Repositories of the cluster that has a manager; undefined where none has. */
  repositories(): FakeCluster["repositories"] | undefined {
    return this.#led()?.repositories;
  }

  /** Types of the documents that the security index has; none without a manager. */
  securityDocuments(): readonly string[] {
    return [...(this.#led()?.security?.keys() ?? [])];
  }

  /** A user or role as it was written. */
  securityEntity(type: SecurityEntityType, name: string): unknown {
    return this.#led()?.security?.get(type)?.get(name);
  }

  /** Whether every cluster that was formed has a manager: a majority of its voters is up. */
  isLed(): boolean {
    this.step();
    return [...this.#clusters.values()].every(({ elected }) => elected !== undefined);
  }

  /** The cluster that has a manager, as it is now: its members, its committed voters and its shard table; undefined where none has. */
  state(): FakeState | undefined {
    this.step();
    const cluster = this.#led();
    if (cluster === undefined) return undefined;
    const nameOf = (volume: string): string => this.nameOf(volume);
    return {
      members: this.members(cluster).map(({ pod }) => pod.name),
      voters: cluster.voters.map(nameOf),
      shards: cluster.shards.rows(nameOf),
    };
  }

  /** Names of nodes whose votes are excluded. */
  exclusions(): readonly string[] {
    return [...this.#clusters.values()].flatMap(({ exclusions }) => [...exclusions]);
  }

  /** Shards of which no copy serves, as `index[shard]`: data that is away. */
  lostShards(): readonly string[] {
    this.step();
    return [...this.#clusters.values()].flatMap(({ shards }) => shards.lost());
  }

  /** The node, if it answers. */
  node(name: string): FakeNode {
    const node = this.#nodes.get(name);
    const { system, startMs } = this.options;
    if (node !== undefined && system.monotonicMs() >= node.startedMs + startMs && !node.isBricked)
      return node;
    throw new EngineError(`node ${name}: no connection (ECONNREFUSED)`, {
      code: "unreachable",
      mayHaveActed: false,
    });
  }

  /** The cluster that the node is in and that has a manager. */
  clusterOf(node: FakeNode): FakeCluster {
    const cluster = this.#clusters.get(node.appliedUuid ?? "");
    if (cluster?.elected !== undefined) return cluster;
    throw new EngineError(`node ${node.pod.name}: HTTP 503 (no elected manager)`, {
      code: "unavailable",
      status: 503,
    });
  }

  /** The cluster whose state the node has applied, with a manager or without. */
  appliedBy({ appliedUuid }: FakeNode): FakeCluster | undefined {
    return this.#clusters.get(appliedUuid ?? "");
  }

  members(cluster: FakeCluster): readonly FakeNode[] {
    return [...this.#nodes.values()].filter(
      ({ pod, appliedUuid }) => appliedUuid === cluster.uuid && this.#disks.get(pod.volume) === cluster.uuid,
    );
  }

  nameOf(volume: string): string {
    return this.#names.get(volume) ?? volume;
  }

  /** Brings everything up to the present: pods that came and went, elections, copies that have recovered. */
  step(): void {
    this.#syncNodes();
    for (const cluster of this.#clusters.values()) cluster.govern(this.#onDisk(cluster));
    this.#found();
    this.#join();
    for (const cluster of this.#clusters.values()) {
      cluster.govern(this.#onDisk(cluster));
      if (cluster.elected === undefined) continue;
      for (const node of this.#onDisk(cluster)) node.apply(cluster.uuid);
      this.#allocate(cluster);
    }
  }

  #led(): FakeCluster | undefined {
    return [...this.#clusters.values()].find(({ elected }) => elected !== undefined);
  }

  #syncNodes(): void {
    const running = this.options.pods().filter(({ isRunning }) => isRunning);
    const byName = new Map(running.map((pod) => [pod.name, pod]));
    for (const [name, node] of this.#nodes)
      if (byName.get(name)?.uid !== node.pod.uid) this.#nodes.delete(name);
    for (const pod of running) {
      const known = this.#nodes.get(pod.name);
      if (known === undefined)
        this.#nodes.set(pod.name, new FakeNode(pod, this.options.system.monotonicMs()));
      else known.see(pod);
      this.#names.set(pod.volume, pod.name);
    }
  }

  /** Blank managers found a cluster when most of their list are there and no cluster is in sight. */
  #found(): void {
    const blank = [...this.#nodes.values()].filter(
      (node) => isManager(node) && !this.#disks.has(node.pod.volume),
    );
    const lists = new Map<string, FakeNode[]>();
    for (const node of blank) {
      const { initialManagers, clusterName, name } = node.pod;
      if (!initialManagers.includes(name) || this.#liveCluster(clusterName) !== undefined) continue;
      const key = JSON.stringify([clusterName, initialManagers.toSorted()]);
      lists.set(key, [...(lists.get(key) ?? []), node]);
    }
    for (const founders of lists.values()) {
      const [first] = founders;
      if (first !== undefined && 2 * founders.length > first.pod.initialManagers.length)
        this.#form(first.pod.clusterName, founders);
    }
  }

  #form(clusterName: string, founders: readonly FakeNode[]): void {
    const { system } = this.options;
    const voters = founders.map(({ pod }) => pod.volume);
    const license = new FakeLicense(system.uuid());
    const cluster = new FakeCluster({ uuid: system.uuid(), clusterName, voters, license });
    this.#clusters.set(cluster.uuid, cluster);
    for (const volume of voters) this.#disks.set(volume, cluster.uuid);
    cluster.govern(founders);
  }

  /** Blank nodes join the cluster that they find; those with the disk of another cannot. */
  #join(): void {
    for (const { pod } of this.#nodes.values()) {
      const cluster = this.#disks.has(pod.volume) ? undefined : this.#liveCluster(pod.clusterName);
      if (cluster !== undefined) this.#disks.set(pod.volume, cluster.uuid);
    }
  }

  #liveCluster(clusterName: string): FakeCluster | undefined {
    return [...this.#clusters.values()].find(
      (cluster) => cluster.clusterName === clusterName && cluster.elected !== undefined,
    );
  }

  #onDisk(cluster: FakeCluster): readonly FakeNode[] {
    return [...this.#nodes.values()].filter(({ pod }) => this.#disks.get(pod.volume) === cluster.uuid);
  }

  #allocate(cluster: FakeCluster): void {
    const { system, recoverMs } = this.options;
    const data = this.#onDisk(cluster).filter(isDataNode);
    const names = (cluster.setting("cluster.routing.allocation.exclude._name") ?? "").split(",");
    const excluded = data.filter(({ pod }) => names.includes(pod.name)).map(({ pod }) => pod.volume);
    cluster.shards.step({
      up: data.map(({ pod }) => pod.volume),
      excluded: new Set(excluded),
      stuck: new Set(data.filter(({ pod }) => this.holdsShards.has(pod.name)).map(({ pod }) => pod.volume)),
      blocked: new Set(this.blockedIndices.keys()),
      enable: cluster.setting("cluster.routing.allocation.enable") ?? "all",
      nowMs: system.monotonicMs(),
      recoverMs,
    });
  }
}
