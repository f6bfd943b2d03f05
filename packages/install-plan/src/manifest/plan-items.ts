import type { InstallPlan } from "@quartermaster/api";
import { canonicalJson, fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";

import type { Issue } from "../model/issue.ts";
import { reasons as planReasons } from "../reasons.ts";
import type { ContentSources, Unresolved } from "./content.ts";
import { objectProblems } from "./object-problems.ts";
import type { Resolved } from "./resolve-manifest.ts";

type Stage = InstallPlan["spec"]["stages"][number];

/** A resource as the plan writes it. */
export type Resource = NonNullable<Stage["resources"]>[number];

/** Where in the plan something is. */
export interface Location {
  readonly stage: string;
  readonly stageIndex: number;
  readonly index: number;
  readonly resource: Resource;
}

/** One object of the plan that can be named; not yet as it is applied. */
export interface PlanItem extends Location {
  readonly object: JsonObject;
}

export interface PlanItems {
  readonly items: readonly PlanItem[];
  readonly issues: readonly Issue[];
  readonly unresolved: readonly Unresolved[];
}

/** Objects that a plan, or one manifest, may hold, its Lists taken apart. */
const itemLimit = 5_000;

/** Follows the plan's references, takes Lists apart and keeps what is an object with a name of its own. */
export function planItems({ spec }: InstallPlan, sources: ContentSources): PlanItems {
  const readings = spec.stages
    .flatMap(({ name: stage, resources = [] }, stageIndex) =>
      resources.map((resource, index): Location => ({ stage, stageIndex, index, resource })),
    )
    .map((location) => readResource(location, sources));
  const items = readings.flatMap((reading) => reading.items);
  return {
    items,
    issues: [...readings.flatMap(({ issues }) => issues), ...sizeIssues(items.length), ...bulkIssues(spec)],
    unresolved: readings.flatMap(({ unresolved }) => unresolved),
  };
}

function sizeIssues(count: number): readonly Issue[] {
  if (count <= itemLimit) return [];
  const message = `the plan has ${count} objects; the limit is ${itemLimit}, split it into several plans`;
  return [{ reason: "InvalidManifest", message }];
}

/** Beyond that the status would not fit beside them into one object of the API server. */
const inlineLimitBytes = 2 ** 20;

function bulkIssues({ stages }: InstallPlan["spec"]): readonly Issue[] {
  const manifests = stages.flatMap(({ resources = [] }) =>
    resources.flatMap(({ manifest }) => (manifest === undefined ? [] : [manifest])),
  );
  const sizeBytes = manifests.reduce((sum, each) => sum + Buffer.byteLength(canonicalJson(each)), 0);
  if (sizeBytes <= inlineLimitBytes) return [];
  const message = `the manifests in the plan are ${Math.ceil(sizeBytes / 1024)} KiB in total; store more than 1 MiB in ResourceManifests`;
  return [{ reason: "InvalidManifest", message }];
}

function readResource(location: Location, sources: ContentSources): PlanItems {
  const { manifestRef, manifest } = location.resource;
  if (manifestRef === undefined) return readObjects(location, manifest);
  const resolved = resolveReference(manifestRef, sources);
  if (resolved.kind === "ok") return readObjects(location, resolved.value);
  const { stage, index } = location;
  const { reason, message } = resolved;
  return { items: [], issues: [], unresolved: [{ reason, name: manifestRef.name, message, stage, index }] };
}

type Reference =
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "unresolved"; readonly reason: Unresolved["reason"]; readonly message: string };

function resolveReference(
  { name, sha256 }: NonNullable<Resource["manifestRef"]>,
  { manifestOf, resolve }: ContentSources,
): Reference {
  const found = manifestOf(name);
  if (found === undefined) {
    return {
      kind: "unresolved",
      reason: "ManifestMissing",
      message: `ResourceManifest ${name} does not exist`,
    };
  }
  if (found.spec.sha256 !== sha256) {
    const message = `ResourceManifest ${name} does not have the content that the plan references`;
    return { kind: "unresolved", reason: "ContentChanged", message };
  }
  const resolved = resolve(found);
  if (resolved.kind === "ok") return resolved;
  return { kind: "unresolved", reason: reasons[resolved.kind], message: resolved.message };
}

const reasons = {
  missing: planReasons.secretMissing,
  unreadable: planReasons.permissionsMissing,
  invalid: "ManifestInvalid",
  changed: "ContentChanged",
} as const satisfies Record<Exclude<Resolved["kind"], "ok">, Unresolved["reason"]>;

function readObjects(location: Location, manifest: unknown): PlanItems {
  const flattened = flattenList(manifest);
  if (flattened.kind === "refused") return onlyIssues([issueAt(location, { message: flattened.message })]);
  if (flattened.isList && location.resource.manifestRef !== undefined) {
    return onlyIssues([issueAt(location, { message: "a ResourceManifest holds one object, not a list" })]);
  }
  const issues = flattened.items.map((object) => issuesOf(location, object));
  return {
    items: flattened.items
      .filter((object, at): object is JsonObject => isJsonObject(object) && issues[at]?.length === 0)
      .map((object) => ({ ...location, object })),
    issues: issues.flat(),
    unresolved: [],
  };
}

function onlyIssues(issues: readonly Issue[]): PlanItems {
  return { items: [], issues, unresolved: [] };
}

function issuesOf(location: Location, object: unknown): readonly Issue[] {
  const title = `${textOf(object, "kind") ?? "object"} ${textOf(fieldOf(object, "metadata"), "name") ?? "without name"}`;
  return problemsOf(object).map(({ field, message }) =>
    issueAt(location, { field, message: `${title.slice(0, 320)}: ${field} ${message}` }),
  );
}

/** Many references may lead to one manifest: it is read once. */
function problemsOf(object: unknown): ReturnType<typeof objectProblems> {
  if (!isJsonObject(object)) return objectProblems(object);
  const problems = known.get(object) ?? objectProblems(object);
  known.set(object, problems);
  return problems;
}

const known = new WeakMap<JsonObject, ReturnType<typeof objectProblems>>();

function issueAt(
  { stage, index }: Location,
  { field, message }: { readonly field?: string; readonly message: string },
): Issue {
  return { reason: "InvalidManifest", stage, index, field, message };
}

/** Lists within Lists that are followed; `kubectl` writes one level. */
const nestingLimit = 4;

/** The objects of a manifest in their order, or why it cannot be taken apart. */
export type Flattened =
  | { readonly kind: "items"; readonly items: readonly unknown[]; readonly isList: boolean }
  | { readonly kind: "refused"; readonly message: string };

/**
 * Takes `List`, `ConfigMapList` and their like apart; anything else is the one item. Items of a typed list need not repeat
 * apiVersion and kind, and must not say another kind. An object that has a name of its own is no list, whatever its kind is
 * called.
 */
export function flattenList(manifest: unknown): Flattened {
  const items: unknown[] = [];
  const message = collect(manifest, items, nestingLimit);
  return message === undefined
    ? { kind: "items", items, isList: itemsOf(manifest) !== undefined }
    : { kind: "refused", message };
}

/** Fills `items`; a message when the manifest breaks a limit. */
function collect(manifest: unknown, items: unknown[], levelsLeft: number): string | undefined {
  const inner = itemsOf(manifest);
  if (inner === undefined) {
    items.push(manifest);
    return items.length > itemLimit ? `a list may have at most ${itemLimit} objects` : undefined;
  }
  if (levelsLeft === 0) return `lists may be nested at most ${nestingLimit} levels deep`;
  for (const [index, item] of inner.entries()) {
    const message =
      mismatch(manifest, item, index) ?? collect(completed(manifest, item), items, levelsLeft - 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

function itemsOf(manifest: unknown): readonly unknown[] | undefined {
  const items = fieldOf(manifest, "items");
  const isList = textOf(manifest, "kind")?.endsWith("List") === true;
  const hasName = fieldOf(fieldOf(manifest, "metadata"), "name") !== undefined;
  return isList && !hasName && Array.isArray(items) ? items : undefined;
}

function mismatch(list: unknown, item: unknown, index: number): string | undefined {
  const expected = itemKind(list);
  const kind = textOf(item, "kind");
  if (expected === "" || kind === undefined || kind === expected) return undefined;
  return `items[${index}] of a ${expected}List has kind ${kind.slice(0, 63)}`;
}

/** `ConfigMap` for `ConfigMapList`, nothing for the plain `List` that holds anything. */
function itemKind(list: unknown): string {
  return textOf(list, "kind")?.slice(0, -"List".length) ?? "";
}

function completed(list: unknown, item: unknown): unknown {
  if (!isJsonObject(item) || itemKind(list) === "") return item;
  const inherited: JsonObject = { apiVersion: textOf(list, "apiVersion"), kind: itemKind(list) };
  return { ...inherited, ...item };
}
