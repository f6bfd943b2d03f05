import { type InstallPlan, resourceManifest, type ResourceManifest } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";

import { checkExpression } from "../health/index.ts";
import type { Content } from "../manifest/content.ts";
import { readContent } from "../manifest/read-content.ts";
import { type Resolved, resolveManifest } from "../manifest/resolve-manifest.ts";
import { type ManifestSecretObject, namespaces } from "./kinds.ts";
import { findManifestSecret } from "./manifest-secret.ts";
import { type KindTable, tableKey } from "./served-kinds.ts";

interface Reading {
  readonly inputs: readonly unknown[];
  readonly content: Content;
  /** What the manifests hold, by uid: unpacking and proving a large one takes longer than all the rest, and none can change. */
  readonly resolved: ReadonlyMap<string, Resolved>;
}

/** Reads the content of plans, and reads it again only when something that it was made from is no longer the same. */
export class ContentReader {
  readonly #readings = new Map<string, Reading>();

  async read(plan: InstallPlan, ctx: Context, kinds: KindTable): Promise<Content> {
    const { namespace = "", uid = "", generation } = plan.metadata;
    const names = manifestNames(plan);
    const manifests = new Map(
      names.map((name) => [name, ctx.follow(resourceManifest.kind, { namespace, name })]),
    );
    const known = this.#readings.get(uid);
    const before = known?.resolved ?? new Map<string, Resolved>();
    const unknown = [...manifests.values()].filter((manifest) => !before.has(manifest?.metadata.uid ?? ""));
    const held = await secretsFor(unknown, plan, ctx);
    const present = namespacesIn(ctx);
    // A manifest cannot change, only go and come back as another.
    const versions = [...manifests.values()].map((manifest) => manifest?.metadata.uid);
    const secretVersions = [...held.values()].map(versionOf).join(",");
    const inputs = [generation, kinds, present.join(","), ...versions, secretVersions];
    if (known !== undefined && isSame(known.inputs, inputs)) return known.content;
    const resolved = new Map<string, Resolved>();
    const content = readContent(plan, {
      manifestOf: (name) => manifests.get(name),
      resolve: (manifest) => {
        const { uid: version = "" } = manifest.metadata;
        const found = before.get(version) ?? resolveHeld(manifest, held, plan);
        if (found.kind === "ok") resolved.set(version, found);
        return found;
      },
      kindOf: (apiVersion, kind) => kinds.get(tableKey(apiVersion, kind)),
      hasNamespace: (name) => present.includes(name),
      checkExpression,
    });
    this.#readings.set(uid, { inputs, content, resolved });
    return content;
  }

  forget(uid: string): void {
    this.#readings.delete(uid);
  }
}

type Held = ReadonlyMap<string, ManifestSecretObject | "forbidden">;

function versionOf(held: ManifestSecretObject | "forbidden"): string | undefined {
  return held === "forbidden" ? held : held.metadata.resourceVersion;
}

function resolveHeld(manifest: ResourceManifest, held: Held, { spec }: InstallPlan): Resolved {
  const name = manifest.spec.secretKeyRef?.name;
  const secret = name === undefined ? undefined : held.get(name);
  if (secret !== "forbidden") return resolveManifest(manifest, () => secret);
  const message = `ResourceManifest ${manifest.metadata.name}: service account ${spec.serviceAccountName} may not get Secret ${name}`;
  return { kind: "unreadable", message };
}

/** The Secrets that hold some of the manifests, by name. */
async function secretsFor(
  manifests: readonly (ResourceManifest | undefined)[],
  plan: InstallPlan,
  ctx: Context,
): Promise<Held> {
  const found = new Map<string, ManifestSecretObject | "forbidden">();
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
