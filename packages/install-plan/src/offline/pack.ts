import { canonicalJson, type JsonObject, type KubeObject } from "@quartermaster/runtime";

import type { Identity } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import { type ArrangedStage, arrangeStages, emptyStages } from "./arrange-stages.ts";
import { type PackObject, readObjects } from "./pack-objects.ts";
import { planScope } from "./plan-scope.ts";
import { type HookReading, type HookStage, isKeptByHelm, type PackedJob, readHooks } from "./read-hooks.ts";
import { storeBeside, type StoredObject, storeInline, storeInSecret } from "./stored-object.ts";

/** Up to this size all objects are stored inline in the plan: it is easy to read, and each one beside it costs a write more. */
const inlineLimitBytes = 256 * 1_024;
/** For the resources of a plan with references: with its status it is to stay below 64 KiB, and that takes up to 25. */
const referringLimitBytes = 36_000;
const planStageLimit = 50;
/** As many as the operator takes: `itemLimit` of manifest/plan-items.ts. */
const planObjectLimit = 5_000;

/**
 * Turns a stream of manifests into a plan. Pure and repeatable: the same documents give the same plan. Whatever is wrong is
 * reported together in `issues`.
 *
 * @example
 * const { plan, issues } = pack([{ value: configMap, source: "shop.yaml" }], { name: "shop", serviceAccountName: "installer" });
 */
export function pack(documents: readonly PackDocument[], options: PackOptions): Packed {
  const { namespace = "default", stages: wanted = [] } = options;
  const { objects: read, warnings, issues } = readObjects(documents, namespace);
  const hooks = readHooks(read, { namespace, isUpgrade: (options.replaces ?? []).length > 0 });
  const arranged = withHooks(arrangeStages(hooks.plain, wanted), hooks);
  const objects = arranged.flatMap((stage) => stage.objects);
  const store = storage(objects, options);
  const stages = arranged.map(({ name, jobs, objects: own }) => ({
    name,
    jobs,
    stored: own.map((object) => withHelmPolicy(store(object), object)),
  }));
  const stored = stages.flatMap((stage) => stage.stored);
  return {
    plan: planOf(objects, stages.map(packedStage), options),
    manifests: onceByName(stored.flatMap(({ manifest }) => (manifest === undefined ? [] : [manifest]))),
    secrets: onceByName(stored.flatMap(({ secret }) => (secret === undefined ? [] : [secret]))),
    warnings: [
      ...warnings,
      ...hooks.warnings,
      ...emptyStages(hooks.plain, wanted),
      ...secretWarning(objects, options),
    ],
    issues: [
      ...issues,
      ...hooks.issues,
      ...stored.flatMap(({ issue }) => issue ?? []),
      ...planIssues(objects.length, stages),
    ],
  };
}

/** Hooks before an installation find namespaces and definitions, as Helm applies them first. */
function withHooks(stages: readonly ArrangedStage[], hooks: HookReading): readonly HookStage[] {
  const plain = stages.map((stage) => ({ ...stage, jobs: [] }));
  const at = plain.findLastIndex(({ name }) => /^(?:namespaces|definitions)(?:-\d+)?$/.test(name)) + 1;
  return [...plain.slice(0, at), ...hooks.before, ...plain.slice(at), ...hooks.after];
}

/** What Helm keeps when a release is uninstalled, the plan keeps when it is deleted. */
function withHelmPolicy(stored: StoredObject, object: PackObject): StoredObject {
  if (!isKeptByHelm(object)) return stored;
  return { ...stored, resource: { ...stored.resource, lifecycle: { cleanup: "Orphan" } } };
}

/** Where each object goes: the smallest into the plan until it is full, the others beside it. */
function storage(objects: readonly PackObject[], options: PackOptions): (object: PackObject) => StoredObject {
  const { namespace = "default", secrets = "inline" } = options;
  const isApart = (object: PackObject): boolean => secrets === "secretRef" && isSecret(object);
  const inline = smallest(objects, isApart);
  return (object) => {
    if (isApart(object)) return storeInSecret(object, namespace);
    return inline.has(object) ? storeInline(object) : storeBeside(object, namespace);
  };
}

/** All that may be inline in the plan when they are few; else as many as fit beside the references to the others. */
function smallest(
  objects: readonly PackObject[],
  isApart: (object: PackObject) => boolean,
): ReadonlySet<PackObject> {
  const sized = objects
    .filter((object) => !isApart(object))
    .map((object) => ({ object, sizeBytes: Buffer.byteLength(canonicalJson(object.manifest)) }));
  const totalBytes = sized.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (totalBytes < inlineLimitBytes) return new Set(sized.map(({ object }) => object));
  const chosen = new Set<PackObject>();
  let leftBytes = objects.reduce((left, object) => left - referenceBytes(object), referringLimitBytes);
  for (const { object, sizeBytes } of sized.toSorted((one, other) => one.sizeBytes - other.sizeBytes)) {
    const moreBytes = sizeBytes - referenceBytes(object);
    if (moreBytes > 0 && moreBytes >= leftBytes) break;
    leftBytes -= moreBytes;
    chosen.add(object);
  }
  return chosen;
}

/** Size of a reference in the plan: name and digest, and the identity of the object. */
function referenceBytes({ identity }: PackObject): number {
  return 160 + Buffer.byteLength(canonicalJson(identity));
}

function packedStage({
  name,
  stored,
  jobs,
}: Pick<HookStage, "name" | "jobs"> & { readonly stored: readonly StoredObject[] }): PackedStage {
  const resources = stored.map(({ resource }) => resource);
  return { name, resources, ...(jobs.length === 0 ? {} : { jobs }) };
}

function planOf(
  objects: readonly PackObject[],
  stages: readonly PackedStage[],
  options: PackOptions,
): PackedPlan {
  const { name, namespace = "default", serviceAccountName, approval, replaces = [] } = options;
  return {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name, namespace },
    spec: {
      serviceAccountName,
      scope: options.scope ?? planScope(objects, namespace),
      ...(approval === "Manual" ? { approval } : {}),
      ...(replaces.length === 0 ? {} : { replaces: { plans: replaces.map((plan) => ({ name: plan })) } }),
      stages,
    },
  };
}

/** Objects of the same content share one manifest. */
function onceByName<O extends KubeObject | PackedManifest>(objects: readonly O[]): readonly O[] {
  return [...new Map(objects.map((object) => [object.metadata.name, object])).values()];
}

function secretWarning(
  objects: readonly PackObject[],
  { secrets = "inline" }: PackOptions,
): readonly string[] {
  const count = objects.filter((object) => isSecret(object)).length;
  if (count === 0 || secrets === "secretRef") return [];
  return [
    `Secrets in the plan: ${count}; anyone who can read plans can read them; secretRef keeps them in Secrets`,
  ];
}

function isSecret({ identity: { apiVersion, kind } }: PackObject): boolean {
  return apiVersion === "v1" && kind === "Secret";
}

function planIssues(objectCount: number, stages: readonly { readonly name: string }[]): readonly Issue[] {
  const names = stages.map(({ name }) => name);
  if (names.length === 0) return [invalid("no objects to install")];
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => invalid(`duplicate stage ${name}: choose another name`)),
    ...(names.length <= planStageLimit ? [] : [invalid(tooMany(names.length, "stages", planStageLimit))]),
    ...(objectCount <= planObjectLimit ? [] : [invalid(tooMany(objectCount, "objects", planObjectLimit))]),
  ];
}

function invalid(message: string): Issue {
  return { reason: "InvalidManifest", message };
}

function tooMany(count: number, what: string, limit: number): string {
  return `${count} ${what} exceed the limit of ${limit} per plan; split the objects into several plans`;
}

/** One document as it was read. */
export interface PackDocument {
  readonly value: unknown;
  /** For messages, e.g. `shop.yaml, document 3`. */
  readonly source: string;
}

/** A stage that the author requests; it takes what it selects out of the default stages and comes after them. */
export interface WantedStage {
  readonly name: string;
  /** `Kind` or `Kind/name`; `*` in a name matches anything. */
  readonly select: readonly string[];
}

/** How to pack. */
export interface PackOptions {
  readonly name: string;
  /** The plan's namespace (default: `default`). */
  readonly namespace?: string;
  readonly serviceAccountName: string;
  readonly stages?: readonly WantedStage[];
  /** Where Secrets go: into the plan like everything else, or each into an immutable Secret (default: `inline`). */
  readonly secrets?: "inline" | "secretRef";
  readonly approval?: "Automatic" | "Manual";
  /** Default: by the objects; of custom resources whose definition is elsewhere one cannot see that they have no namespace. */
  readonly scope?: "Namespace" | "Cluster";
  /** Names of the plans that this one takes over from. */
  readonly replaces?: readonly string[];
}

/** One resource of a packed plan. */
export type PackedResource = { readonly lifecycle?: { readonly cleanup: "Orphan" } } & (
  | { readonly manifest: JsonObject }
  | { readonly manifestRef: { readonly name: string; readonly sha256: string; readonly object: Identity } }
);

/** A plan as it is created; the API server fills in the defaults. */
export interface PackedPlan extends KubeObject {
  readonly spec: {
    readonly serviceAccountName: string;
    readonly scope: "Namespace" | "Cluster";
    readonly approval?: "Manual";
    readonly replaces?: { readonly plans: readonly { readonly name: string }[] };
    readonly stages: readonly PackedStage[];
  };
}

/** A stage of it. */
export interface PackedStage {
  readonly name: string;
  readonly resources: readonly PackedResource[];
  /** From hooks of a chart. */
  readonly jobs?: readonly PackedJob[];
}

/** A ResourceManifest as it is created. */
export interface PackedManifest extends KubeObject {
  readonly spec: {
    readonly sha256: string;
    readonly manifest?: JsonObject;
    readonly data?: string;
    readonly encoding?: "gzip";
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

/** Result of packing. With issues, there is no plan. */
export interface Packed {
  readonly plan: PackedPlan;
  readonly manifests: readonly PackedManifest[];
  /** Immutable Secrets that the manifests refer to. */
  readonly secrets: readonly KubeObject[];
  readonly warnings: readonly string[];
  readonly issues: readonly Issue[];
}
