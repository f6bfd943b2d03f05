import {
  fieldOf,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  withoutFields,
} from "@quartermaster/runtime";

import type { ObjectProblem } from "./object-problems.ts";

/** A manifest as it is sent to the server, with what was left out on the way. */
export interface AppliedForm {
  readonly manifest: KubeObject;
  /** Fields that were dropped although they had a value. */
  readonly dropped: readonly string[];
  readonly problems: readonly ObjectProblem[];
}

/**
 * The form in which a manifest without faults (see object-faults.ts) is applied: in `namespace`, or in none when that is
 * undefined; without `status` and what only the server can fill in; a Secret's `stringData` as `data`.
 */
export function appliedForm(manifest: JsonObject, namespace: string | undefined): AppliedForm {
  const problems = isSecret(manifest) ? [...stringDataProblems(manifest), ...dataProblems(manifest)] : [];
  const content = isSecret(manifest) && problems.length === 0 ? withEncodedData(manifest) : manifest;
  const metadata = fieldOf(manifest, "metadata");
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objectFaults has looked at apiVersion, kind and name
    manifest: {
      ...withoutFields(content, statusOnly),
      metadata: appliedMetadata(isJsonObject(metadata) ? metadata : {}, namespace),
    } as unknown as KubeObject,
    dropped: droppedFields(manifest, namespace),
    problems,
  };
}

const statusOnly: ReadonlySet<string> = new Set(["status"]);

/** Harmless leftovers of exported objects; those that could do harm are refused beforehand and are empty here. */
const serverMetadata: ReadonlySet<string> = new Set([
  "namespace",
  "creationTimestamp",
  "generation",
  "selfLink",
  "generateName",
  "uid",
  "resourceVersion",
  "managedFields",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
]);

function appliedMetadata(metadata: JsonObject, namespace: string | undefined): JsonObject {
  return { ...withoutFields(metadata, serverMetadata), namespace };
}

function droppedFields(manifest: JsonObject, namespace: string | undefined): readonly string[] {
  const metadata = fieldOf(manifest, "metadata");
  const written = fieldOf(metadata, "namespace") ?? "";
  return [
    ...(saysNothing(fieldOf(manifest, "status")) ? [] : ["status"]),
    ...(namespace === undefined && written !== "" ? ["metadata.namespace"] : []),
    ...["creationTimestamp", "generation", "selfLink"]
      .filter((field) => !saysNothing(fieldOf(metadata, field)))
      .map((field) => `metadata.${field}`),
  ];
}

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

function isSecret(manifest: JsonObject): boolean {
  return fieldOf(manifest, "apiVersion") === "v1" && fieldOf(manifest, "kind") === "Secret";
}

function stringDataProblems(manifest: JsonObject): readonly ObjectProblem[] {
  const stringData = fieldOf(manifest, "stringData") ?? {};
  if (!isJsonObject(stringData)) return [{ field: "stringData", message: "must be an object" }];
  return Object.entries(stringData)
    .filter(([, value]) => typeof value !== "string")
    .map(([key]) => ({
      field: `stringData[${JSON.stringify(key.slice(0, 253))}]`,
      message: "must be a string",
    }));
}

/** The server responds to such an apply with an internal error, as if it were worth a retry. */
function dataProblems(manifest: JsonObject): readonly ObjectProblem[] {
  const data = fieldOf(manifest, "data") ?? {};
  if (!isJsonObject(data)) return [{ field: "data", message: "must be an object" }];
  return Object.entries(data)
    .filter(([, value]) => value !== null && !(typeof value === "string" && isBase64(value)))
    .map(([key]) => ({ field: `data[${JSON.stringify(key.slice(0, 253))}]`, message: "must be base64" }));
}

/** As the server reads it: padded, line breaks ignored. */
function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[\r\n]/g, "");
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** The server does the same, but would then report the field as its own and every comparison would find drift. */
function withEncodedData(secret: JsonObject): JsonObject {
  const stringData = fieldOf(secret, "stringData");
  if (stringData === undefined) return secret;
  const data = fieldOf(secret, "data");
  const encoded = Object.entries(isJsonObject(stringData) ? stringData : {}).map(
    ([key, value]): [string, unknown] => [key, Buffer.from(String(value)).toString("base64")],
  );
  const all: [string, unknown][] = [...Object.entries(isJsonObject(data) ? data : {}), ...encoded];
  return { ...withoutFields(secret, new Set(["stringData"])), data: Object.fromEntries(all) };
}
