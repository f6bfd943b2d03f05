import type { z } from "zod";

import { SchemaError } from "../errors.ts";
import { type Loss, lossOf } from "./loss.ts";

/** Throws the error that says which field cannot be expressed and what to write instead. */
export function refuse(path: readonly (string | number)[], what: string, remedy: string): never {
  const field = path.length === 0 ? "the whole schema" : path.join(".");
  throw new SchemaError(
    field,
    `${field} is ${what}, which a CustomResourceDefinition cannot express. ${remedy}`,
  );
}

/** Refuses what zod itself would let through weakened. `path` is that of the JSON Schema, with its own words in between. */
export function refuseZodType(schema: z.core.$ZodTypes, { root, path }: SchemaPath): void {
  const refusal = REFUSED.get(typeOf(schema)) ?? lossOf(schema);
  if (refusal !== undefined) refuse([...root, ...fieldPath(path)], refusal.what, refusal.remedy);
}

function typeOf(schema: z.core.$ZodTypes): string {
  // oxlint-disable-next-line no-underscore-dangle -- zod's documented door for library authors
  return schema._zod.def.type;
}

/** Where a part of a schema stands: the field of the object it begins at, and the way from there. */
export interface SchemaPath {
  readonly root: readonly string[];
  readonly path: readonly (string | number)[];
}

/** `properties`, `items` and the like are words of the schema, not names of fields. */
function fieldPath(path: readonly (string | number)[]): readonly string[] {
  const fields: string[] = [];
  for (let at = 0; at < path.length; at += 1) {
    const text = String(path[at]);
    if (text === "properties") fields.push(String(path[(at += 1)]));
    else if (text === "items") fields.push("[]");
    else if (text === "additionalProperties") fields.push("{}");
  }
  return fields;
}

const PLAIN: Loss = {
  what: "a type that JSON does not have",
  remedy: "Use a string, a number, a list or an object.",
};

const REFUSED: ReadonlyMap<string, Loss> = new Map([
  ["tuple", { what: "a tuple", remedy: "Use an object with named fields, or a list of one type." }],
  ["date", { what: "a Date", remedy: "Use timestamp()." }],
  ["bigint", { what: "a bigint", remedy: "Use int64(), or a string with a pattern." }],
  ["intersection", { what: "an intersection", remedy: "Write one object with all fields." }],
  ["lazy", { what: "recursive", remedy: "Use raw() for the inner part." }],
  ["transform", { what: "a transform", remedy: "Transform after parsing; the server sees only the input." }],
  ["pipe", { what: "a pipe", remedy: "Transform after parsing; the server sees only the input." }],
  ["custom", { what: "a check in code", remedy: "Use cel(): the server does not run our code." }],
  ["catch", { what: "a catch", remedy: "Use a default: the server refuses what is wrong." }],
  ["map", PLAIN],
  ["set", PLAIN],
  ["symbol", PLAIN],
  ["undefined", PLAIN],
  ["void", PLAIN],
  ["nan", PLAIN],
  ["function", PLAIN],
  ["promise", PLAIN],
  ["file", PLAIN],
]);
