import {
  type Context,
  digestOf,
  fieldOf,
  type JsonObject,
  type KubeObject,
  listOf,
  type Live,
  NotYetKnownError,
  textOf,
} from "@quartermaster/runtime";
import { configMaps, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { followedData, isCut } from "../bounded-data.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { secretText } from "../secret-text.ts";

/** An object that the spec names and that has to exist. */
export interface Reference {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
}

/**
 * Objects that the spec names and of which only the existence matters to us: files of users, sources of volumes, pull secrets. Without
 * them kubelet waits in silence, or continues without them. Those whose keys are read are checked where they are read.
 */
export function specReferences({
  security,
  image,
  pod,
  pools,
  dashboards,
}: SearchCluster): readonly Reference[] {
  const files = security.isEnabled ? security.securityConfigSecret : undefined;
  const pods = [pod, ...pools.map((pool) => pool.pod), ...(dashboards === undefined ? [] : [dashboards.pod])];
  return [
    ...(files === undefined ? [] : [secret(files)]),
    ...[...image.pullSecrets, ...(dashboards?.image.pullSecrets ?? [])].map(secret),
    ...pods.flatMap(({ volumes }) => volumes).flatMap(volumeReferences),
  ];
}

function secret(name: string): Reference {
  return { kind: "Secret", name };
}

function volumeReferences(volume: JsonObject): readonly Reference[] {
  const projected = listOf(fieldOf(volume, "projected"), "sources");
  return [volume, ...projected].flatMap((source) => [
    ...named("Secret", fieldOf(source, "secret")),
    ...named("ConfigMap", fieldOf(source, "configMap")),
  ]);
}

/** Volumes call it `secretName`, projected sources and ConfigMaps `name`. An optional one may be absent. */
function named(kind: Reference["kind"], source: unknown): readonly Reference[] {
  const name = textOf(source, "secretName") ?? textOf(source, "name");
  return name === undefined || fieldOf(source, "optional") === true ? [] : [{ kind, name }];
}

/** Whether an object can have the name: others would reach a selector or a path. */
export function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name);
}

/** Objects that the user has to create; our own are not among them. */
export function missingReferences(missing: readonly string[]): readonly string[] {
  return missing.filter((what) => !what.startsWith("own "));
}

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

/** Follows Secrets that a part of the cluster reads itself: their versions, and what is missing. */
export function followedSecrets(
  wanted: readonly { readonly name: string; readonly keys: readonly string[] }[],
  ctx: Context,
): { readonly live: readonly Live<Secret>[]; readonly missing: readonly string[] } {
  const found = wanted.map(({ name, keys }) => ({
    name,
    keys,
    live: ctx.follow(secrets, { name }, followedData),
  }));
  return {
    live: found.flatMap(({ live }) => live ?? []),
    missing: found.flatMap(({ name, keys, live }) => {
      if (live === undefined) return [`Secret ${name}`];
      const lacking = keys.filter((key) => live.data?.[key] === undefined);
      return lacking.length === 0 ? [] : [`key ${lacking.join(", ")} of Secret ${name}`];
    }),
  };
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
