import { classify, type Client, SharedReads, type System } from "@quartermaster/runtime";
import { configMaps, secrets } from "@quartermaster/runtime/kinds";

import {
  type KeyFacts,
  keyFactsOf,
  objectKeyLimit,
  type ObjectIdentity,
} from "../injection/injection-facts.ts";
import { keyLimitBytes } from "../references/read-keys.ts";
import { WatchedKeys, type WatchKeys } from "./watched-keys.ts";

export interface KeyIndexOptions {
  readonly client: Client;
  readonly system: Pick<System, "monotonicMs">;
  /** Opens watches of objects that are used often (default: none is watched). */
  readonly watch?: WatchKeys;
  /** Waits before an object that we may not read yet is read again (default: it is not). */
  readonly sleep?: (ms: number) => Promise<void>;
}

const [keysFreshMs, confirmedMs, forbiddenMs] = [30_000, 1_000, 150];

/** The controllers grant us the objects of a new bundle a moment after it was created: a pod that names it waits for so long. */
const [grantedWithinMs, betweenReadsMs] = [2_000, 200];
const entryLimit = 2_000;

/**
 * The API server serves reads of one object within milliseconds; the caller's own deadline is shorter still. Values are dropped while they
 * arrive: 500 Secrets of 300 KB would otherwise be text in memory until the next collection, docs/decisions/0008.
 */
const reading = { timeoutMs: 5_000, textLimitBytes: keyLimitBytes } as const;

/**
 * The key names of Secrets and ConfigMaps, one object at a time: nothing is listed, and values are dropped as soon as the keys
 * are known. Objects that are used often are watched. Keys of others are up to 30 s old; that an object does not exist is read
 * again after a second, also if a watch says so: it may have been created a moment before the pod.
 */
export class KeyIndex {
  readonly #client: Client;
  readonly #reads: SharedReads<ObjectIdentity, KeyFacts>;
  readonly #confirmations: SharedReads<ObjectIdentity, KeyFacts>;
  readonly #watches: WatchedKeys | undefined;
  readonly #options: KeyIndexOptions;

  constructor(options: KeyIndexOptions) {
    const { client, system, watch } = options;
    this.#client = client;
    this.#options = options;
    const read = async (object: ObjectIdentity): Promise<KeyFacts> => await this.#read(object);
    const shared = { system, limit: entryLimit, read };
    const shortMs = ({ kind }: KeyFacts): number => (kind === "forbidden" ? forbiddenMs : confirmedMs);
    const freshMs = (facts: KeyFacts): number => (facts.kind === "keys" ? keysFreshMs : shortMs(facts));
    this.#reads = new SharedReads({ ...shared, freshMs });
    this.#confirmations = new SharedReads({ ...shared, freshMs: shortMs });
    this.#watches = watch === undefined ? undefined : new WatchedKeys({ watch, system });
  }

  /**
   * The keys of an object. Throws what the request throws, except that we may not read it. For one that a pod needs, we wait
   * until the controllers have granted it.
   */
  async keysOf(
    { kind, namespace, name }: ObjectIdentity,
    { isNeeded = false }: { readonly isNeeded?: boolean } = {},
  ): Promise<KeyFacts> {
    const object = { kind, namespace, name };
    const { system, sleep } = this.#options;
    const endMs = system.monotonicMs() + grantedWithinMs;
    for (;;) {
      const facts = await this.#known(object);
      if (facts.kind !== "forbidden" || !isNeeded || sleep === undefined) return facts;
      if (system.monotonicMs() >= endMs) return facts;
      await sleep(betweenReadsMs);
    }
  }

  async #known(object: ObjectIdentity): Promise<KeyFacts> {
    const watched = this.#watches?.use(object);
    if (watched === undefined) return (await this.#reads.get(object)).value;
    const { facts, isCurrent } = watched;
    if (isCurrent && facts.kind === "keys") return facts;
    try {
      return (await this.#confirmations.get(object)).value;
    } catch (error) {
      // The API server cannot be queried: the last state of the watch is better than to refuse pods.
      if (facts.kind !== "keys") throw error;
      return facts;
    }
  }

  /** Objects whose keys were read lately. */
  get size(): number {
    return this.#reads.size;
  }

  /** Objects that are watched. */
  get watched(): number {
    return this.#watches?.size ?? 0;
  }

  async #read(object: ObjectIdentity): Promise<KeyFacts> {
    try {
      const keys =
        object.kind === "Secret" ? await this.#secretKeys(object) : await this.#configMapKeys(object);
      return keyFactsOf(keys);
    } catch (error) {
      if (classify(error) === "forbidden") return { kind: "forbidden" };
      throw error;
    }
  }

  async #secretKeys({ namespace, name }: ObjectIdentity): Promise<readonly string[] | undefined> {
    const found = await this.#client.find(secrets, { namespace, name }, reading);
    return found === undefined ? undefined : ownKeys(found.data);
  }

  async #configMapKeys({ namespace, name }: ObjectIdentity): Promise<readonly string[] | undefined> {
    const found = await this.#client.find(configMaps, { namespace, name }, reading);
    return found === undefined ? undefined : ownKeys({ ...found.data, ...found.binaryData });
  }
}

/** Copies: a key must not keep the whole response alive. */
function ownKeys(data: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(data)
    .slice(0, objectKeyLimit + 1)
    .toSorted()
    .map((key) => Buffer.from(key).toString());
}
