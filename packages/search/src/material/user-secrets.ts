import { type Context, digestOf, type Live, NotYetKnownError } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { followedData, isCut } from "../bounded-data.ts";
import { secretText } from "../secret-text.ts";

/** The Secrets that the spec names; what they lack is collected. */
export class UserSecrets {
  readonly #ctx: Context;
  readonly missing: string[] = [];

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Values of these keys; undefined, and noted as missing, unless all are there. */
  read(name: string, keys: readonly string[]): readonly string[] | undefined {
    const live = this.live(name);
    const values = keys.map((key) => secretText(live, key));
    const lacking = keys.filter((_key, at) => values[at] === undefined);
    if (lacking.length === 0) return values.map((value) => value ?? "");
    this.missing.push(whatIsMissing(name, live, lacking));
    return undefined;
  }

  /** Begins to follow them all: otherwise a reconcile would end at each in turn that is not known yet. */
  follow(names: readonly string[]): void {
    const unknown = names.flatMap((name) => {
      try {
        this.live(name);
        return [];
      } catch (error) {
        if (error instanceof NotYetKnownError) return [error];
        throw error;
      }
    });
    if (unknown[0] !== undefined) throw unknown[0];
  }

  live(name: string): Live<Secret> | undefined {
    return this.#ctx.follow(secrets, { name }, followedData);
  }

  /** A value that need not be there. */
  optional(name: string, key: string): string | undefined {
    return secretText(this.live(name), key);
  }

  digest(name: string): string {
    const live = this.live(name);
    if (live === undefined) this.missing.push(`Secret ${name}`);
    return live === undefined ? "" : dataDigest(live.data ?? {});
  }
}

/** By the data itself, which the store keeps until it changes: a cluster may name 64 Secrets, and each reconcile needs them all. */
const known = new WeakMap<object, string>();

function dataDigest(data: object): string {
  const digest = known.get(data) ?? digestOf(data);
  known.set(data, digest);
  return digest;
}

function whatIsMissing(name: string, live: Live<Secret> | undefined, lacking: readonly string[]): string {
  if (live === undefined) return `Secret ${name}`;
  const isTooLarge = lacking.some((key) => isCut(live.data?.[key]));
  return isTooLarge
    ? `a smaller Secret ${name} (more than 64 KiB are not read)`
    : `key ${lacking.join(", ")} of Secret ${name}`;
}
