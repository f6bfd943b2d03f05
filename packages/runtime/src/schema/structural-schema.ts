import * as z from "zod";

import { definedFields } from "../object/defined-fields.ts";
import { refuse, refuseZodType } from "./refuse.ts";
import { EMBEDDED, INT_OR_STRING, PRESERVE } from "./vocabulary.ts";

/** A schema as a CustomResourceDefinition holds it. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

/**
 * Turns a zod schema into the structural OpenAPI v3 that the API server accepts. What cannot be expressed there is refused with the
 * path of the field: a CRD is never silently weaker than its schema. `root` is where the schema stands within the object.
 */
export function toStructuralSchema(schema: z.ZodType, root: FieldPath = []): StructuralSchema {
  const json: unknown = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input", // the server fills defaults in: what has one is not required of the user
    cycles: "ref", // refused below, with the path
    reused: "inline",
    unrepresentable: "any", // the refusal below names the path, zod's own error does not
    override: ({ zodSchema, path }) => refuseZodType(zodSchema, { root, path }),
  });
  return rewrite(asNode(json), root);
}

/** A node of JSON Schema. */
export type Node = Readonly<Record<string, unknown>>;

/** Path of a field within the schema, e.g. `spec`, `stages`, `[]`. */
export type FieldPath = readonly string[];

function rewrite(node: Node, path: FieldPath): StructuralSchema {
  if (node["$ref"] !== undefined) refuse(path, "recursive", "Use raw() for the inner part.");
  if (node[INT_OR_STRING] === true) return { ...kept(node), [INT_OR_STRING]: true };
  if (node[PRESERVE] === true) return rewritePreserved(node);
  const { anyOf, oneOf, ...plain } = node;
  if (anyOf !== undefined) return rewriteUnion(plain, nodesOf(anyOf), path);
  if (oneOf !== undefined) return rewriteBranches(plain, nodesOf(oneOf), path);
  return rewritePlain(plain, path);
}

function rewritePreserved(node: Node): StructuralSchema {
  return {
    ...kept(node),
    type: "object",
    [PRESERVE]: true,
    ...(node[EMBEDDED] === true ? { [EMBEDDED]: true } : {}),
  };
}

function rewritePlain(node: Node, path: FieldPath): StructuralSchema {
  switch (node["type"]) {
    case "object":
      return rewriteObject(node, path);
    case "array":
      return { ...kept(node), type: "array", items: rewrite(asNode(node["items"]), [...path, "[]"]) };
    case "string":
    case "boolean":
    case "number":
    case "integer":
      return withoutNoise(node);
    default:
      return refuse(path, "a value of no particular type", "Use raw() where anything goes.");
  }
}

function rewriteObject(node: Node, path: FieldPath): StructuralSchema {
  const { properties, additionalProperties, required, ...rest } = node;
  const values = isNode(additionalProperties) ? additionalProperties : undefined;
  if (values !== undefined && Object.keys(values).length > 0) {
    return { ...kept(rest), type: "object", additionalProperties: rewrite(values, [...path, "{}"]) };
  }
  const fields = Object.entries(asNode(properties ?? {})).map(
    ([name, field]) => [name, rewrite(asNode(field), [...path, name])] as const,
  );
  const names = Array.isArray(required) && required.length > 0 ? { required } : {};
  // Other fields may be anything: without this the server would drop them.
  const open = values === undefined ? {} : { [PRESERVE]: true };
  return { ...kept(rest), type: "object", properties: Object.fromEntries(fields), ...names, ...open };
}

/** `A | B` of scalars: only literals of one type and "or null" can be expressed. */
function rewriteUnion(node: Node, branches: readonly Node[], path: FieldPath): StructuralSchema {
  const enums = branches.map((branch) => branch["enum"]);
  const types = new Set(branches.map((branch) => branch["type"]));
  if (types.size === 1 && enums.every(Array.isArray)) {
    return { ...kept(node), type: branches[0]?.["type"], enum: enums.flat() };
  }
  if (types.size === 1 && types.has("object")) {
    // An object may do for several of them.
    const { oneOf: anyOf, ...merged } = rewriteBranches(node, branches, path);
    return { ...merged, anyOf };
  }
  return refuse(
    path,
    "a union of different types",
    "Use intOrString(), an object with one optional field per case, or split the field.",
  );
}

/** Objects distinguished by a field: all their fields in one object, and for each branch which of them it needs. */
function rewriteBranches(node: Node, branches: readonly Node[], path: FieldPath): StructuralSchema {
  const properties = new Map<string, StructuralSchema>();
  const oneOf = branches.map((branch) => {
    const fields = Object.entries(asNode(branch["properties"] ?? {}));
    for (const [name, field] of fields)
      mergeField(properties, name, { field: rewrite(asNode(field), [...path, name]), path });
    return branchOf(branch, fields);
  });
  return { ...kept(node), type: "object", properties: Object.fromEntries(properties), oneOf };
}

function branchOf(branch: Node, fields: readonly (readonly [string, unknown])[]): StructuralSchema {
  const constants = fields.filter(([, field]) => isNode(field) && Array.isArray(field["enum"]));
  const properties = Object.fromEntries(
    constants.map(([name, field]) => [name, { enum: asNode(field)["enum"] }]),
  );
  return { properties, ...(Array.isArray(branch["required"]) ? { required: branch["required"] } : {}) };
}

function mergeField(
  known: Map<string, StructuralSchema>,
  name: string,
  { field, path }: { readonly field: StructuralSchema; readonly path: FieldPath },
): void {
  const other = known.get(name);
  if (other === undefined) {
    known.set(name, field);
    return;
  }
  const [mine, theirs] = [valuesOf(other), valuesOf(field)];
  if (mine !== undefined && theirs !== undefined && other["type"] === field["type"]) {
    known.set(name, { ...other, enum: [...new Set([...mine, ...theirs])] });
    return;
  }
  if (JSON.stringify(other) !== JSON.stringify(field)) {
    refuse(
      [...path, name],
      "a field that is something else in another branch",
      "Give the fields different names.",
    );
  }
}

function valuesOf({ enum: values }: StructuralSchema): readonly unknown[] | undefined {
  return Array.isArray(values) ? values : undefined;
}

/** Keywords beside the type: descriptions, defaults, limits, extensions. */
function kept(node: Node): StructuralSchema {
  return Object.fromEntries(
    Object.entries(node).filter(
      ([key]) =>
        ![
          "type",
          "properties",
          "required",
          "additionalProperties",
          "items",
          "anyOf",
          "oneOf",
          "id",
          "$schema",
        ].includes(key),
    ),
  );
}

/** Bounds that zod adds to every integer, and the pattern it adds to times and base64, say nothing the format does not. */
function withoutNoise(node: Node): StructuralSchema {
  const { minimum, maximum, pattern, format, contentEncoding, allOf, ...rest } = node;
  const isBase64 = contentEncoding === "base64";
  const isStatedByFormat = isBase64 || format === "date-time";
  return {
    ...rest,
    ...(minimum === undefined || isNatural(minimum, format) ? {} : { minimum }),
    ...(maximum === undefined || isNatural(maximum, format) ? {} : { maximum }),
    ...(pattern === undefined || isStatedByFormat ? {} : { pattern }),
    ...formatOf(isBase64 ? "byte" : format),
    ...(allOf === undefined ? {} : { allOf: nodesOf(allOf).map(patternOnly) }),
  };
}

/** Several patterns; the type stands outside, and the server wants it nowhere else. */
function patternOnly({ pattern }: Node): StructuralSchema {
  return { pattern };
}

function formatOf(format: unknown): StructuralSchema {
  return definedFields({ format });
}

/** The server holds `int32` to its bounds on its own. */
function isNatural(bound: unknown, format: unknown): boolean {
  const bounds = [Number.MAX_SAFE_INTEGER, ...(format === "int32" ? [2 ** 31 - 1, 2 ** 31] : [])];
  return typeof bound === "number" && bounds.includes(Math.abs(bound));
}

function nodesOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.map(asNode) : [];
}

function asNode(value: unknown): Node {
  return isNode(value) ? value : {};
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
