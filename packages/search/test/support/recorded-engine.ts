import type { JsonObject } from "@quartermaster/runtime";
import type { RecordedReconcile } from "@quartermaster/testkit";

import type { EngineCall, EngineClient } from "../../src/engine/engine-client.ts";
import { EngineError, type EngineErrorCode } from "../../src/engine/engine-error.ts";
import type { EngineLicense, EngineRepository, EngineShard } from "../../src/engine/engine-facts.ts";

type Flat = Readonly<Record<string, string>>;

export interface EngineState {
  /** Names of the members, with their roles. */
  readonly members: Readonly<Record<string, readonly string[]>>;
  readonly voters: readonly string[];
  readonly exclusions: readonly string[];
  readonly persistent: Flat;
  readonly transient: Flat;
  readonly shards: readonly EngineShard[];
  readonly repositories: Readonly<Record<string, EngineRepository>>;
  /** By `type/name`. */
  readonly entities: Readonly<Record<string, JsonObject>>;
  readonly hasSecurityIndex: boolean;
  readonly license: EngineLicense;
  readonly isRed: boolean;
  /** Calls that the engine refuses, by call and its argument, e.g. `putEntity roles/a`. */
  readonly refuses: Readonly<Record<string, EngineErrorCode>>;
  /** Calls to which it does not respond. */
  readonly silent: readonly EngineCall[];
}

const empty: EngineState = {
  members: {},
  voters: [],
  exclusions: [],
  persistent: {},
  transient: {},
  shards: [],
  repositories: {},
  entities: {},
  hasSecurityIndex: true,
  license: { uid: "basic", type: "basic", status: "active", expiryMs: undefined, maxNodes: undefined },
  isRed: false,
  refuses: {},
  silent: [],
};

/** An engine in memory. Its writes are recorded in one list with those to the API server, so that their order is seen. */
export class RecordedEngine {
  readonly #api: RecordedReconcile;
  #state: EngineState;

  constructor(api: RecordedReconcile, state: Partial<EngineState> = {}) {
    this.#api = api;
    this.#state = { ...empty, ...state };
    api.watch(() => this.#state);
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Another client, or the engine itself, changes something. */
  change(changes: Partial<EngineState>): void {
    this.#state = { ...this.#state, ...changes };
  }

  /** Methods that no unit test needs are missing and throw. */
  get client(): EngineClient {
    return { ...this.#reads(), ...this.#settingWrites(), ...this.#contentWrites() } as EngineClient;
  }

  async #read<T>(call: EngineCall, value: (state: EngineState) => T): Promise<T> {
    if (this.#state.silent.includes(call)) throw new EngineError(`${call}: silent`, { code: "unreachable" });
    return await Promise.resolve(value(this.#state));
  }

  async #write(
    call: EngineCall,
    name: string,
    changes: (state: EngineState) => Partial<EngineState>,
  ): Promise<void> {
    try {
      await this.#api.write({ verb: "engine", kind: call, name }, () => {
        const code = this.#state.refuses[`${call} ${name}`.trim()];
        if (code !== undefined) throw new EngineError(`${call} ${name}: refused`, { code });
        this.change(changes(this.#state));
      });
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(`${call}: broken`, { code: "timeout", cause: error });
    }
  }

  #reads(): Partial<EngineClient> {
    return {
      health: async () => await this.#read("health", healthOf),
      nodes: async () =>
        await this.#read("nodes", ({ members, voters }) =>
          Object.entries(members).map(([name, roles]) => ({
            id: `id-${name}`,
            name,
            version: "2.19.4",
            roles,
            isElected: name === voters[0],
          })),
        ),
      coordination: async () =>
        await this.#read("coordination", ({ voters, exclusions }) => ({
          clusterUuid: "U",
          voters,
          exclusions,
          elected: voters[0],
        })),
      shards: async () => await this.#read("shards", ({ shards }) => shards),
      settings: async () =>
        await this.#read("settings", ({ persistent, transient }) => ({ persistent, transient })),
      nodeLoad: async () => await this.#read("nodeLoad", loadOf),
      indices: async () =>
        await this.#read("indices", ({ shards }) =>
          [...new Set(shards.map(({ index }) => index))].map((name) => ({
            name,
            replicas: 1,
            isAutoExpanded: false,
          })),
        ),
      explain: async (copy) => await this.#read("explain", () => ({ ...copy, nodes: [], text: "" })),
      repositories: async () =>
        await this.#read("repositories", ({ repositories }) => Object.values(repositories)),
      entities: async (type) =>
        await this.#read("entities", ({ entities }) => {
          const own = Object.entries(entities).filter(([key]) => key.startsWith(`${type}/`));
          return new Map(own.map(([key, body]) => [key.slice(type.length + 1), body]));
        }),
      hasSecurityIndex: async () =>
        await this.#read("hasSecurityIndex", ({ hasSecurityIndex }) => hasSecurityIndex),
      license: async () => await this.#read("license", ({ license }) => license),
    };
  }

  #settingWrites(): Partial<EngineClient> {
    return {
      putSettings: async ({ persistent = {}, transient = {} }) => {
        const keys = [...Object.keys(persistent), ...Object.keys(transient)].toSorted();
        await this.#write("putSettings", keys.join(","), (state) => ({
          persistent: merged(state.persistent, persistent),
          transient: merged(state.transient, transient),
        }));
      },
      excludeVotes: async (nodes) => {
        await this.#write("excludeVotes", nodes.join(","), ({ exclusions, voters }) => ({
          exclusions: [...new Set([...exclusions, ...nodes])],
          voters: voters.filter((name) => !nodes.includes(name)),
        }));
      },
      clearVoteExclusions: async () => {
        await this.#write("clearVoteExclusions", "", () => ({ exclusions: [] }));
      },
      flush: async () => {
        await this.#write("flush", "", () => ({}));
      },
      fitReplicas: async ({ indices }) => {
        await this.#write("fitReplicas", indices.join(","), () => ({}));
      },
      reloadCertificates: async (node, layer) => {
        await this.#write("reloadCertificates", `${node} ${layer}`, () => ({}));
      },
    };
  }

  #contentWrites(): Partial<EngineClient> {
    return {
      putRepository: async (repository) => {
        const { name } = repository;
        await this.#write("putRepository", name, ({ repositories }) => ({
          repositories: { ...repositories, [name]: repository },
        }));
      },
      verifyRepository: async (name) => {
        await this.#write("verifyRepository", name, () => ({}));
      },
      deleteRepository: async (name) => {
        await this.#write("deleteRepository", name, ({ repositories }) => ({
          repositories: without(repositories, name),
        }));
      },
      initSecurity: async (documents) => {
        await this.#write("initSecurity", "", () => ({ hasSecurityIndex: true }));
        return Object.keys(documents) as (keyof typeof documents)[];
      },
      putEntity: async (type, name, body) => {
        const key = `${type}/${name}`;
        await this.#write("putEntity", key, ({ entities }) => ({ entities: { ...entities, [key]: body } }));
      },
      deleteEntity: async (type, name) => {
        const key = `${type}/${name}`;
        await this.#write("deleteEntity", key, ({ entities }) => ({ entities: without(entities, key) }));
      },
      putLicense: async (file) => {
        await this.#write("putLicense", "", ({ license }) => ({ license: { ...license, ...file } }));
        return { outcome: "applied", messages: [] };
      },
      startBasic: async () => {
        await this.#write("startBasic", "", ({ license }) => ({
          license: { ...license, uid: "basic", type: "basic" },
        }));
        return { outcome: "applied", messages: [] };
      },
      startTrial: async () => {
        await this.#write("startTrial", "", ({ license }) => ({
          license: { ...license, uid: "trial", type: "trial" },
        }));
        return { outcome: "applied", messages: [] };
      },
    };
  }
}

function healthOf({ isRed, members, shards }: EngineState): Awaited<ReturnType<EngineClient["health"]>> {
  const unassignedShards = shards.filter(({ node }) => node === undefined).length;
  const nodes = Object.keys(members).length;
  const status = unassignedShards > 0 ? "yellow" : "green";
  return {
    status: isRed ? "red" : status,
    nodes,
    dataNodes: nodes,
    activeShards: shards.length - unassignedShards,
    relocatingShards: 0,
    initializingShards: 0,
    unassignedShards,
    pendingTasks: 0,
  };
}

function loadOf({ members, shards }: EngineState): Awaited<ReturnType<EngineClient["nodeLoad"]>> {
  return Object.keys(members).map((node) => {
    const held = shards.filter((shard) => shard.node === node).length;
    return {
      node,
      shards: held,
      documents: held,
      storeBytes: 0,
      diskTotalBytes: 1_000,
      diskFreeBytes: 800,
      heapPercent: 10,
      cpuPercent: 1,
      searchQueue: 0,
      writeRejections: 0,
    };
  });
}

function without<T>(entries: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => key !== name));
}

function merged(before: Flat, changes: Readonly<Record<string, string | null>>): Flat {
  const kept = Object.entries(before).filter(([key]) => !(key in changes));
  const set = Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries([...kept, ...set].toSorted(([one], [other]) => one.localeCompare(other)));
}
