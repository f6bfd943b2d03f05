import { fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";

import { groupOf } from "../identity.ts";
import { isApiVersion, isDnsLabel, isDnsSubdomain, isKindName, isPathSegment } from "./names.ts";

/** One thing that is wrong with an object, and where. */
export interface ObjectFault {
  readonly field: string;
  readonly message: string;
}

/** Labels and annotations of this domain are ours: they prove who owns an object. */
const ownLabels = "install.quartermaster.dev/";

/**
 * What is wrong with a manifest as such, all of it; nothing here depends on the cluster. Names are checked before anything
 * uses them, because they become parts of request paths. Never quotes a value other than names.
 */
export function objectFaults(manifest: unknown): readonly ObjectFault[] {
  if (!isJsonObject(manifest)) return [{ field: "", message: "a manifest must be an object" }];
  const metadata = fieldOf(manifest, "metadata");
  if (!isJsonObject(metadata))
    return [...typeFaults(manifest), { field: "metadata", message: "must be an object" }];
  return [
    ...typeFaults(manifest),
    ...nameFaults(manifest, metadata),
    ...foreignFaults(metadata),
    ...markFaults(metadata, "labels"),
    ...markFaults(metadata, "annotations"),
  ];
}

function typeFaults(manifest: JsonObject): readonly ObjectFault[] {
  return [
    ...(isApiVersion(textOf(manifest, "apiVersion") ?? "")
      ? []
      : [{ field: "apiVersion", message: "must be <version> or <group>/<version>" }]),
    ...(isKindName(textOf(manifest, "kind") ?? "") ? [] : [{ field: "kind", message: "must name a kind" }]),
  ];
}

function nameFaults(manifest: JsonObject, metadata: JsonObject): readonly ObjectFault[] {
  const name = fieldOf(metadata, "name");
  const namespace = fieldOf(metadata, "namespace");
  const isNamespace = namespace === undefined || namespace === "" || isTextThat(namespace, isDnsLabel);
  const isName = isTextThat(name, isRbac(manifest) ? isPathSegment : isDnsSubdomain);
  return [
    ...(isName ? [] : [{ field: "metadata.name", message: nameRule(manifest, name) }]),
    ...(isNamespace ? [] : [{ field: "metadata.namespace", message: "must be a DNS label" }]),
  ];
}

function isTextThat(value: unknown, holds: (text: string) => boolean): boolean {
  return typeof value === "string" && holds(value);
}

/** Roles and bindings are called `system:node` and the like; everything else has a DNS name. */
function isRbac(manifest: JsonObject): boolean {
  return groupOf(textOf(manifest, "apiVersion") ?? "") === "rbac.authorization.k8s.io";
}

function nameRule(manifest: JsonObject, name: unknown): string {
  if (name === undefined) return "is required";
  if (isRbac(manifest))
    return "must be 1 to 253 characters without slashes, percent signs and control characters";
  return "must be a DNS subdomain: lowercase letters, digits, dashes and dots";
}

/** Fields that the server or another writer fills in, with what to do about them. */
const foreignFields: ReadonlyMap<string, string> = new Map([
  ["generateName", "is not allowed: objects of a plan need a fixed name; put jobs in stages[].jobs"],
  ["uid", "is set by the API server; remove it"],
  ["resourceVersion", "is set by the API server; remove it"],
  ["managedFields", "is set by the API server; remove it"],
  ["deletionTimestamp", "is set by the API server; remove it"],
  ["deletionGracePeriodSeconds", "is set by the API server; remove it"],
  ["ownerReferences", "is not allowed: the plan owns its objects; remove it"],
  [
    "finalizers",
    "is not allowed: a finalizer is set by the controller that removes it; remove it from the manifest",
  ],
]);

function foreignFaults(metadata: JsonObject): readonly ObjectFault[] {
  return [...foreignFields]
    .filter(([field]) => !isEmpty(fieldOf(metadata, field)))
    .map(([field, message]) => ({ field: `metadata.${field}`, message }));
}

/** Generators write empty fields; they say nothing and are dropped. */
function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function markFaults(metadata: JsonObject, field: "labels" | "annotations"): readonly ObjectFault[] {
  const marks = fieldOf(metadata, field);
  if (marks === undefined || marks === null) return [];
  if (!isJsonObject(marks)) return [{ field: `metadata.${field}`, message: "must be an object" }];
  return Object.keys(marks)
    .filter((key) => key.startsWith(ownLabels))
    .map((key) => ({
      field: `metadata.${field}[${JSON.stringify(key.slice(0, 100))}]`,
      message: "is reserved for Quartermaster; remove it",
    }));
}
