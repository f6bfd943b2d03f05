import { type InstallPlan, resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { checkExpression } from "@quartermaster/health";
import { ApiError, apiVersionOf, classify, type Context } from "@quartermaster/runtime";
import { namespaces, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { asAccount, mayActAs, optInRemedy } from "../account/account.ts";
import type { Seen } from "../seen.ts";
import type { Content } from "./content.ts";
import { type KindTable, tableKey } from "./kind-table.ts";
import { readContent } from "./read-content.ts";
import { InflatedSize, type Resolved, resolveManifest } from "./resolve-manifest.ts";

interface Reading {
  readonly inputs: readonly unknown[];
  readonly content: Content;
  /** Keys of the manifests that it was read from. */
  readonly kept: readonly string[];
}

/** Content of a manifest, for all plans that refer to it: unpacking and proving a large one takes longer than all the rest, and none can change. */
interface Kept {
  readonly resolved: Resolved;
  readonly sizeBytes: number;
  /** Readings that refer to it. */
  readonly readers: number;
}

/** Size of the content that is kept unpacked for all plans together. A plan beyond it is read again at its next reconcile. */
const keptLimitBytes = 8 * 2 ** 20;

/** Reads the content of plans, and reads it again only when something that it was made from is no longer the same. */
export class ContentReader {
  /** The one that was not used for the longest time first. */
  readonly #readings = new Map<string, Reading>();
  readonly #kept = new Map<string, Kept>();
  readonly #limitBytes: number;
  #keptBytes = 0;

  constructor({ limitBytes = keptLimitBytes }: { readonly limitBytes?: number } = {}) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes that are kept unpacked. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  async read(plan: InstallPlan, ctx: Context, kinds: KindTable): Promise<Content> {
    const { namespace = "", uid = "", generation } = plan.metadata;
    const names = manifestNames(plan);
    const manifests = new Map(
      names.map((name) => [name, ctx.follow(resourceManifest.kind, { namespace, name })]),
    );
    const known = this.#readings.get(uid);
    const readBefore = new Set(known?.kept ?? []);
    const unknown = [...manifests.values()].filter(
      (manifest) => manifest === undefined || !readBefore.has(keptKey(manifest, plan)),
    );
    const held = await secretsFor(unknown, plan, ctx);
    const present = namespacesIn(ctx);
    // A manifest cannot change, only go and come back as another.
    const versions = [...manifests.values()].map((manifest) => manifest?.metadata.uid);
    const secretVersions = [...held.values()].map(versionOf).join(",");
    const inputs = [generation, kinds, present.join(","), ...versions, secretVersions];
    if (known !== undefined && isSame(known.inputs, inputs)) return this.#use(uid, known).content;
    const found = new Map<string, Omit<Kept, "readers">>();
    const total = new InflatedSize();
    const content = readContent(plan, {
      manifestOf: (name) => manifests.get(name),
      resolve: (manifest) => this.#resolve(manifest, { plan, found, total, held }),
      kindOf: (apiVersion, kind) => kinds.get(tableKey(apiVersion, kind)),
      servedKinds: () =>
        kinds.values().map((served) => ({ apiVersion: apiVersionOf(served), kind: served.kind })),
      hasNamespace: (name) => present.includes(name),
      checkExpression,
    });
    this.#keep(uid, { inputs, content }, found);
    return content;
  }

  forget(uid: string): void {
    const reading = this.#readings.get(uid);
    this.#readings.delete(uid);
    for (const key of reading?.kept ?? []) this.#release(key);
  }

  /** However often the plan refers to a manifest, it is unpacked once. */
  #resolve(manifest: ResourceManifest, { plan, found, total, held }: Resolving): Resolved {
    const key = keptKey(manifest, plan);
    const met = found.get(key);
    if (met !== undefined) return met.resolved;
    const kept = this.#kept.get(key);
    const before = total.bytes;
    if (kept !== undefined && kept.sizeBytes <= total.leftBytes) total.add(kept.sizeBytes);
    const isKept = kept !== undefined && total.bytes === before + kept.sizeBytes;
    const resolved = isKept ? kept.resolved : resolveHeld(manifest, { plan, held, total });
    found.set(key, { resolved, sizeBytes: total.bytes - before });
    return resolved;
  }

  #use(uid: string, reading: Reading): Reading {
    this.#readings.delete(uid);
    this.#readings.set(uid, reading);
    return reading;
  }

  #keep(
    uid: string,
    reading: Omit<Reading, "kept">,
    found: ReadonlyMap<string, Omit<Kept, "readers">>,
  ): void {
    const good = [...found].filter(([, { resolved }]) => resolved.kind === "ok");
    for (const [version, { resolved, sizeBytes }] of good) {
      const kept = this.#kept.get(version) ?? { resolved, sizeBytes, readers: 0 };
      if (kept.readers === 0) this.#keptBytes += sizeBytes;
      this.#kept.set(version, { ...kept, readers: kept.readers + 1 });
    }
    this.forget(uid);
    this.#readings.set(uid, { ...reading, kept: good.map(([key]) => key) });
    for (const [oldest, { kept }] of this.#readings) {
      if (this.#keptBytes <= this.#limitBytes) return;
      if (oldest !== uid && kept.length > 0) this.forget(oldest);
    }
  }

  #release(version: string): void {
    const kept = this.#kept.get(version);
    if (kept === undefined) return;
    if (kept.readers > 1) {
      this.#kept.set(version, { ...kept, readers: kept.readers - 1 });
      return;
    }
    this.#kept.delete(version);
    this.#keptBytes -= kept.sizeBytes;
  }
}

/**
 * Proof that two plans may share unpacked content. Content from a Secret was read as the account of one plan, and another
 * plan's account may not be allowed to read it.
 */
function keptKey({ metadata: { uid = "" }, spec }: ResourceManifest, plan: InstallPlan): string {
  return spec.secretKeyRef === undefined ? uid : `${uid} of ${plan.metadata.uid ?? ""}`;
}

interface Resolving {
  readonly plan: InstallPlan;
  readonly found: Map<string, Omit<Kept, "readers">>;
  readonly total: InflatedSize;
  readonly held: Held;
}

type Held = ReadonlyMap<string, Secret | "forbidden">;

function versionOf(held: Secret | "forbidden"): string | undefined {
  return held === "forbidden" ? held : held.metadata.resourceVersion;
}

function resolveHeld(manifest: ResourceManifest, { plan, held, total }: Omit<Resolving, "found">): Resolved {
  const name = manifest.spec.secretKeyRef?.name;
  const secret = name === undefined ? undefined : held.get(name);
  if (secret !== "forbidden") return resolveManifest(manifest, () => secret, total);
  const message = `ResourceManifest ${manifest.metadata.name}: service account ${plan.spec.serviceAccountName} may not get Secret ${name}`;
  return { kind: "unreadable", message };
}

/** The Secrets that hold some of the manifests, by name. */
async function secretsFor(
  manifests: readonly (ResourceManifest | undefined)[],
  plan: InstallPlan,
  ctx: Context,
): Promise<Held> {
  const found = new Map<string, Secret | "forbidden">();
  for (const manifest of manifests) {
    const ref = manifest?.spec.secretKeyRef;
    if (ref === undefined) continue;
    const secret = await findManifestSecret(plan, ref.name, ctx);
    if (secret !== undefined) found.set(ref.name, secret);
  }
  return found;
}

/** Names of the ResourceManifests that a plan refers to, each once. */
export function manifestNames({ spec }: InstallPlan): readonly string[] {
  const names = spec.stages.flatMap(({ resources = [] }) =>
    resources.flatMap(({ manifestRef }) => (manifestRef === undefined ? [] : [manifestRef.name])),
  );
  return [...new Set(names)];
}

/** Those that objects can be put into. */
function namespacesIn(ctx: Context): readonly string[] {
  return ctx
    .store(namespaces)
    .list()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/**
 * The Secret that holds a manifest's content, read as the plan's account: with the operator's own permissions, the author of a
 * ResourceManifest could read any Secret of the namespace. Throws, with the remedy, where the operator may not act as
 * the account.
 */
async function findManifestSecret(
  plan: InstallPlan,
  name: string,
  ctx: Context,
): Promise<Secret | "forbidden" | undefined> {
  const { namespace = "" } = plan.metadata;
  try {
    return await asAccount(ctx.client, plan).find(secrets, { namespace, name }, { signal: ctx.signal });
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    if (await mayActAs(plan, ctx)) return "forbidden";
    const message = `The operator may not impersonate service account ${plan.spec.serviceAccountName}; ${await optInRemedy(plan, ctx)}`;
    throw new ApiError(message, { class: "forbidden", mayHaveActed: false, cause: error });
  }
}

const shortestMs = 1_000;
const longestMs = 60_000;

/**
 * When to read a Secret that holds a manifest again. Secrets are not watched, because the operator may not be allowed to
 * read them: a tenth of the time waited so far finds a new one within seconds, and costs an idle plan next to nothing.
 */
export function secretRetryMs({ unresolvedMs }: Pick<Seen, "unresolvedMs">): number {
  return Math.min(longestMs, Math.max(shortestMs, unresolvedMs / 10));
}
