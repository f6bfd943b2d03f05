import { type Context, digestOf, type KubeObject, type Live, NotYetKnownError } from "@quartermaster/runtime";
import { configMaps, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { followedData, isCut } from "../bounded-data.ts";
import { secretText } from "../secret-text.ts";
import { isObjectName, type Reference } from "./spec-references.ts";

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
    this.#miss(whatIsMissing(name, live, lacking));
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
    if (live === undefined) this.#miss(`Secret ${name}`);
    return live === undefined ? "" : dataDigest(live.data ?? {});
  }

  /** Notes what is not there. The author's own pod fields may hold names that no object can have: the API server refuses those. */
  need({ kind, name }: Reference): void {
    if (!isObjectName(name)) return;
    const of = kind === "Secret" ? secrets : configMaps;
    const live = this.#ctx.follow<KubeObject>(of, { name }, { isMetadataOnly: true });
    if (live === undefined) this.#miss(`${kind} ${name}`);
  }

  #miss(what: string): void {
    if (!this.missing.includes(what)) this.missing.push(what);
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
