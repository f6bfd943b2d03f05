import type { JsonObject } from "@quartermaster/runtime";

import type { EngineSettings, NodeLoad } from "../../src/engine/engine-facts.ts";
import type { FakeLicense } from "./fake-license.ts";
import { type FakeNode, isManager } from "./fake-pod.ts";
import { FakeRepositories } from "./fake-repositories.ts";
import { FakeShardTable } from "./fake-shard-table.ts";

/** Size of a fake disk. */
const diskBytes = 10 * 1024 ** 3;

type Flat = Readonly<Record<string, string>>;

/** A formed cluster: what its managers have on their disks. Nodes are known by their volume, as real ones by their id. */
export class FakeCluster {
  readonly uuid: string;
  readonly clusterName: string;
  readonly license: FakeLicense;
  readonly shards = new FakeShardTable();
  readonly repositories = new FakeRepositories();
  /** Names of nodes. */
  readonly exclusions = new Set<string>();
  #security: Map<string, Map<string, JsonObject>> | undefined;
  #securedMs: number | undefined;
  #voters: ReadonlySet<string>;
  #elected: string | undefined;
  #persistent: Flat = {};
  #transient: Flat = {};

  constructor(founding: {
    readonly uuid: string;
    readonly clusterName: string;
    readonly voters: readonly string[];
    readonly license: FakeLicense;
  }) {
    this.uuid = founding.uuid;
    this.clusterName = founding.clusterName;
    this.license = founding.license;
    this.#voters = new Set(founding.voters);
  }

  get voters(): readonly string[] {
    return [...this.#voters];
  }

  /** Volume of the elected manager; undefined without a majority of voters. */
  get elected(): string | undefined {
    return this.#elected;
  }

  get settings(): { readonly persistent: Flat; readonly transient: Flat } {
    return { persistent: this.#persistent, transient: this.#transient };
  }

  /** Documents of the security index by type; undefined without the index. */
  get security(): Map<string, Map<string, JsonObject>> | undefined {
    return this.#security;
  }

  /** Since when every document is there. */
  get securedMs(): number | undefined {
    return this.#securedMs;
  }

  secure(documents: Map<string, Map<string, JsonObject>>, completeMs: number | undefined): void {
    this.#security = documents;
    this.#securedMs = completeMs;
  }

  /** What a node's own statistics say. */
  loadOf({ pod }: FakeNode): NodeLoad {
    const held = this.shards.load(pod.volume);
    return {
      node: pod.name,
      ...held,
      storeBytes: 1_000 * held.documents,
      diskTotalBytes: diskBytes,
      diskFreeBytes: diskBytes / 2,
      heapPercent: 30,
      cpuPercent: 5,
      searchQueue: 0,
      writeRejections: 0,
    };
  }

  /** A setting as it is effective: transient ones shadow persistent ones. */
  setting(key: string): string | undefined {
    return this.#transient[key] ?? this.#persistent[key];
  }

  putSettings({ persistent = {}, transient = {} }: Partial<EngineSettings>): void {
    this.#persistent = merged(this.#persistent, persistent);
    this.#transient = merged(this.#transient, transient);
  }

  /** Keeps the elected manager while it and a majority are up, or elects another. Then fits the voters to who is there. */
  govern(members: readonly FakeNode[]): void {
    const managers = members.filter(isManager);
    const up = managers.map(({ pod }) => pod.volume);
    const votersUp = up.filter((volume) => this.#voters.has(volume)).toSorted();
    const hasMajority = 2 * votersUp.length > this.#voters.size;
    if (!hasMajority) this.#elected = undefined;
    else if (this.#elected === undefined || !up.includes(this.#elected)) this.#elected = votersUp[0];
    if (this.#elected !== undefined) this.#reconfigure(managers);
  }

  /**
   * The engine's own reconfiguration: an odd number of live managers that are not excluded, never fewer than three once there
   * were three, the elected one and present voters first. Nothing changes without a majority of the new voters.
   */
  #reconfigure(managers: readonly FakeNode[]): void {
    const retired = new Set(
      managers.filter(({ pod }) => this.exclusions.has(pod.name)).map(({ pod }) => pod.volume),
    );
    const live = managers.map(({ pod }) => pod.volume).filter((volume) => !retired.has(volume));
    const kept = [...this.#voters].filter((volume) => !retired.has(volume));
    const odd = live.length - (live.length % 2 === 0 ? 1 : 0);
    const preference = [
      ...live.filter((volume) => volume === this.#elected),
      ...live.filter((volume) => this.#voters.has(volume)),
      ...live,
      ...kept,
    ];
    const wanted = [...new Set(preference)].slice(0, Math.max(odd, kept.length < 3 ? 1 : 3));
    const up = wanted.filter((volume) => live.includes(volume)).toSorted();
    if (2 * up.length <= wanted.length) return;
    this.#voters = new Set(wanted);
    // A manager whose vote is excluded hands over.
    if (this.#elected !== undefined && !this.#voters.has(this.#elected)) this.#elected = up[0];
  }
}

function merged(now: Flat, changes: Readonly<Record<string, string | null>>): Flat {
  const entries = Object.entries({ ...now, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}
