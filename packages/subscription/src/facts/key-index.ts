import { classify, type Client, SharedReads, type System } from "@quartermaster/runtime";
import { configMaps, secrets } from "@quartermaster/runtime/kinds";

import type { KeyFacts, ObjectIdentity } from "../injection/injection-facts.ts";

/** What the index reads with. */
export interface KeyIndexOptions {
  readonly client: Client;
  readonly system: Pick<System, "monotonicMs">;
}

const [keysFreshMs, missingFreshMs] = [30_000, 1_000];
const entryLimit = 2_000;

/** The API server answers reads of one object within milliseconds; the caller's own deadline is shorter still. */
const readTimeoutMs = 5_000;

/**
 * The key names of Secrets and ConfigMaps, one object at a time: nothing is listed, and values are dropped as soon as the keys
 * are known. Keys are up to 30 s old; that an object does not exist is asked again after a second.
 */
export class KeyIndex {
  readonly #client: Client;
  readonly #reads: SharedReads<ObjectIdentity, KeyFacts>;

  constructor({ client, system }: KeyIndexOptions) {
    this.#client = client;
    this.#reads = new SharedReads({
      system,
      limit: entryLimit,
      read: async (object) => await this.#read(object),
      freshMs: ({ kind }) => (kind === "keys" ? keysFreshMs : missingFreshMs),
    });
  }

  /** The keys of an object. Throws what the request throws, except that we may not read it. */
  async keysOf({ kind, namespace, name }: ObjectIdentity): Promise<KeyFacts> {
    const { value } = await this.#reads.get({ kind, namespace, name });
    return value;
  }

  /** Objects whose keys are known. */
  get size(): number {
    return this.#reads.size;
  }

  async #read(object: ObjectIdentity): Promise<KeyFacts> {
    try {
      const keys =
        object.kind === "Secret" ? await this.#secretKeys(object) : await this.#configMapKeys(object);
      return keys === undefined ? { kind: "missing" } : { kind: "keys", keys };
    } catch (error) {
      if (classify(error) === "forbidden") return { kind: "forbidden" };
      throw error;
    }
  }

  async #secretKeys({ namespace, name }: ObjectIdentity): Promise<readonly string[] | undefined> {
    const found = await this.#client.find(secrets, { namespace, name }, { timeoutMs: readTimeoutMs });
    return found === undefined ? undefined : ownKeys(found.data);
  }

  async #configMapKeys({ namespace, name }: ObjectIdentity): Promise<readonly string[] | undefined> {
    const found = await this.#client.find(configMaps, { namespace, name }, { timeoutMs: readTimeoutMs });
    return found === undefined ? undefined : ownKeys({ ...found.data, ...found.binaryData });
  }
}

/** Copies: a key must not keep the whole answer alive. */
function ownKeys(data: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(data)
    .toSorted()
    .map((key) => Buffer.from(key).toString());
}
