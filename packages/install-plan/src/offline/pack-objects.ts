import {
  digestOf,
  fieldOf,
  isJsonObject,
  type JsonObject,
  textOf,
  withoutFields,
} from "@quartermaster/runtime";

import { objectProblems } from "../manifest/object-problems.ts";
import { flattenList } from "../manifest/plan-items.ts";
import { describeIdentity, type Identity, identityKey } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { PackDocument } from "./pack.ts";

/** One object to be packed. */
export interface PackObject {
  readonly manifest: JsonObject;
  readonly identity: Identity;
  readonly digest: string;
  readonly source: string;
}

/** The objects of all documents in their order, each once, and all that is wrong with them. */
export interface ReadObjects {
  readonly objects: readonly PackObject[];
  readonly warnings: readonly string[];
  readonly issues: readonly Issue[];
}

/** Takes lists apart, drops `status` and identical copies with a warning, refuses copies that differ. */
export function readObjects(documents: readonly PackDocument[], namespace: string): ReadObjects {
  const readings = documents.map((document) => readDocument(document));
  const merged = mergeCopies(
    readings.flatMap(({ objects }) => objects),
    namespace,
  );
  return {
    objects: merged.objects,
    warnings: [...readings.flatMap(({ warnings }) => warnings), ...merged.warnings],
    issues: [...readings.flatMap(({ issues }) => issues), ...merged.issues],
  };
}

function readDocument({ value, source }: PackDocument): ReadObjects {
  const flattened = flattenList(value);
  if (flattened.kind === "refused") return faulty([invalid(`${source}: ${flattened.message}`)]);
  const issues = flattened.items.flatMap((item) => issuesOf(item, source));
  if (issues.length > 0) return faulty(issues);
  const objects = flattened.items
    .filter((item) => isJsonObject(item))
    .map((item) => packObject(item, source));
  const warnings = flattened.items
    .filter((item) => Object.keys(fieldOf(item, "status") ?? {}).length > 0)
    .map((item) => `${source}: ${titleOf(item)}: status was dropped`);
  return { objects, warnings, issues: [] };
}

function faulty(issues: readonly Issue[]): ReadObjects {
  return { objects: [], warnings: [], issues };
}

function issuesOf(item: unknown, source: string): readonly Issue[] {
  return objectProblems(item).map(({ field, message }) => ({
    ...invalid(`${source}: ${titleOf(item)}: ${field === "" ? "" : `${field} `}${message}`),
    field,
  }));
}

function invalid(message: string): Issue {
  return { reason: "InvalidManifest", message };
}

function titleOf(item: unknown): string {
  const name = textOf(fieldOf(item, "metadata"), "name") ?? "without a name";
  return `${textOf(item, "kind") ?? "object"} ${name}`;
}

const statusOnly: ReadonlySet<string> = new Set(["status"]);

/** Only of objects without faults: apiVersion, kind and name are there. */
function packObject(item: JsonObject, source: string): PackObject {
  const manifest = withoutFields(item, statusOnly);
  const metadata = fieldOf(item, "metadata");
  const namespace = textOf(metadata, "namespace") ?? "";
  const identity = {
    apiVersion: textOf(item, "apiVersion") ?? "",
    kind: textOf(item, "kind") ?? "",
    ...(namespace === "" ? {} : { namespace }),
    name: textOf(metadata, "name") ?? "",
  };
  return { manifest, identity, digest: digestOf(manifest), source };
}

/** An object without a namespace and one in the plan's own may be the same; the key takes them as one. */
function mergeCopies(objects: readonly PackObject[], namespace: string): ReadObjects {
  const groups = [
    ...Map.groupBy(objects, ({ identity }) => identityKey({ namespace, ...identity })).values(),
  ];
  return {
    objects: groups.flatMap((group) => group.slice(0, 1)),
    warnings: groups.filter((group) => group.length > 1 && areAlike(group)).map((group) => leftOut(group)),
    issues: groups.filter((group) => !areAlike(group)).map((group) => differing(group)),
  };
}

function areAlike(group: readonly PackObject[]): boolean {
  return group.every(({ digest }) => digest === group[0]?.digest);
}

function leftOut([first, ...others]: readonly PackObject[]): string {
  const locations = others.map(({ source }) => source).join("; ");
  return `${locations}: ${first === undefined ? "" : describeIdentity(first.identity)}: identical copies were dropped`;
}

function differing(group: readonly PackObject[]): Issue {
  const locations = [...new Set(group.map(({ source }) => source))].join("; ");
  const [first] = group;
  const title = first === undefined ? "" : describeIdentity(first.identity);
  return {
    ...invalid(`${locations}: ${title}: occurs more than once with different content; keep one`),
    object: first?.identity,
  };
}
