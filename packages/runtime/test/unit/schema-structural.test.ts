import { describe, expect, test } from "vitest";
import { z } from "zod";

import { SchemaError } from "../../src/errors.ts";
import {
  atomicList,
  cel,
  embedded,
  immutable,
  int32,
  int64,
  intOrString,
  listMap,
  listSet,
  map,
  quantity,
  raw,
  timestamp,
  toStructuralSchema,
} from "../../src/schema/index.ts";

describe("what a schema becomes in a CRD", () => {
  test.each<{ readonly name: string; readonly given: z.ZodType; readonly want: object }>([
    {
      name: "a string with limits",
      given: z.string().min(1).max(9),
      want: { type: "string", minLength: 1, maxLength: 9 },
    },
    { name: "an integer without zod's bounds", given: int64(), want: { type: "integer", format: "int64" } },
    {
      name: "an integer with bounds of its own",
      given: int32().min(0).max(9),
      want: { type: "integer", format: "int32", minimum: 0, maximum: 9 },
    },
    { name: "a default", given: z.boolean().default(true), want: { type: "boolean", default: true } },
    { name: "an enum", given: z.enum(["a", "b"]), want: { type: "string", enum: ["a", "b"] } },
    {
      name: "a union of literals",
      given: z.union([z.literal("a"), z.literal("b")]),
      want: { type: "string", enum: ["a", "b"] },
    },
    { name: "null", given: z.string().nullable(), want: { type: "string", nullable: true } },
    { name: "int or string", given: intOrString(), want: { "x-kubernetes-int-or-string": true } },
    {
      name: "a time without zod's pattern",
      given: timestamp(),
      want: { type: "string", format: "date-time" },
    },
    {
      name: "a map",
      given: map(z.string()),
      want: { type: "object", additionalProperties: { type: "string" } },
    },
    {
      name: "anything",
      given: raw(),
      want: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
    {
      name: "an embedded object",
      given: embedded(),
      want: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-embedded-resource": true,
      },
    },
    {
      name: "a set",
      given: listSet(z.string()),
      want: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    },
    {
      name: "an atomic list",
      given: atomicList(z.int()),
      want: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "atomic" },
    },
    {
      name: "a list with keys",
      given: listMap(z.strictObject({ name: z.string() }), ["name"]),
      want: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
    },
    {
      name: "objects distinguished by a field",
      given: z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("a"), size: z.int() }),
        z.strictObject({ kind: z.literal("b"), text: z.string() }),
      ]),
      want: {
        type: "object",
        properties: {
          kind: { type: "string", enum: ["a", "b"] },
          size: { type: "integer" },
          text: { type: "string" },
        },
        oneOf: [
          { properties: { kind: { enum: ["a"] } }, required: ["kind", "size"] },
          { properties: { kind: { enum: ["b"] } }, required: ["kind", "text"] },
        ],
      },
    },
  ])("$name", ({ given, want }) => {
    expect(toStructuralSchema(given)).toEqual(want);
  });

  test.each([
    {
      name: "bounds that look like those of another type are kept",
      given: z
        .int()
        .min(-(2 ** 31))
        .max(2 ** 31 - 1),
      want: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
    },
    {
      name: "two patterns",
      given: z.string().regex(/^a/).regex(/b$/),
      want: { type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] },
    },
    {
      name: "an object that keeps other fields",
      given: z.looseObject({ a: z.string() }),
      want: {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
    {
      name: "objects of which one may be several",
      given: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      want: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        anyOf: [
          { properties: {}, required: ["a"] },
          { properties: {}, required: ["b"] },
        ],
      },
    },
  ])("$name", ({ given, want }) => {
    expect(toStructuralSchema(given)).toEqual(want);
  });

  test("a quantity keeps its pattern", () => {
    expect(toStructuralSchema(quantity())["pattern"]).toContain("eEinumkKMGTP");
  });

  test("rules add up, and a description survives them", () => {
    const schema = cel(immutable(z.string().describe("a name")), {
      rule: "self != ''",
      message: "not empty",
    });
    expect(toStructuralSchema(schema)).toEqual({
      type: "string",
      description: "a name",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "is immutable" },
        { rule: "self != ''", message: "not empty" },
      ],
    });
  });
});

describe("[runtime/RT-29] a schema that a CRD cannot express is refused by its path, never weakened", () => {
  interface Tree {
    readonly children: readonly Tree[];
  }
  const tree: z.ZodType<Tree> = z.strictObject({ children: z.array(z.lazy(() => tree)) });

  test.each<{ readonly name: string; readonly given: z.ZodType; readonly path: string }>([
    { name: "a tuple", given: z.object({ at: z.tuple([z.string(), z.string()]) }), path: "spec.at" },
    { name: "a Date", given: z.object({ when: z.date() }), path: "spec.when" },
    { name: "a bigint", given: z.object({ big: z.bigint() }), path: "spec.big" },
    {
      name: "a transform",
      given: z.object({ list: z.array(z.object({ text: z.string().transform(Number) })) }),
      path: "spec.list.[].text",
    },
    { name: "a check in code", given: z.object({ odd: z.custom<number>() }), path: "spec.odd" },
    {
      name: "a refinement",
      given: z.object({ odd: z.string().refine((text) => text !== "x") }),
      path: "spec.odd",
    },
    {
      name: "a refinement of an object",
      given: z.object({ list: z.array(z.object({ a: z.string() }).superRefine(() => undefined)) }),
      path: "spec.list.[]",
    },
    { name: "a text that is trimmed", given: z.object({ text: z.string().trim() }), path: "spec.text" },
    { name: "a coerced number", given: z.object({ size: z.coerce.number() }), path: "spec.size" },
    { name: "a catch", given: z.object({ size: z.number().catch(1) }), path: "spec.size" },
    {
      name: "a map with a pattern for keys",
      given: z.object({ byName: z.record(z.string().regex(/^a/), z.string()) }),
      path: "spec.byName",
    },
    {
      name: "a map with a list of keys",
      given: z.object({ byName: z.record(z.enum(["a", "b"]), z.string()) }),
      path: "spec.byName",
    },
    {
      name: "an object with a type for the rest",
      given: z.object({ rest: z.object({ size: z.int() }).catchall(z.string()) }),
      path: "spec.rest",
    },
    { name: "a pattern with flags", given: z.object({ any: z.string().regex(/^a$/i) }), path: "spec.any" },
    { name: "a look-ahead", given: z.object({ any: z.string().regex(/^(?!a)/) }), path: "spec.any" },
    { name: "a format in code", given: z.object({ it: z.stringFormat("odd", () => true) }), path: "spec.it" },
    {
      name: "a URL of one protocol",
      given: z.object({ at: z.url({ protocol: /^https$/ }) }),
      path: "spec.at",
    },
    { name: "a set", given: z.object({ all: z.set(z.string()) }), path: "spec.all" },
    {
      name: "a union of different types",
      given: z.object({ mixed: z.union([z.string(), z.boolean()]) }),
      path: "spec.mixed",
    },
    { name: "any", given: z.object({ any: z.any() }), path: "spec.any" },
    {
      name: "an intersection",
      given: z.object({ both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })) }),
      path: "spec.both",
    },
    {
      name: "branches that disagree on a field",
      given: z.object({
        one: z.discriminatedUnion("k", [
          z.object({ k: z.literal("a"), v: z.string() }),
          z.object({ k: z.literal("b"), v: z.int() }),
        ]),
      }),
      path: "spec.one.v",
    },
  ])("$name", ({ given, path }) => {
    expect(refusalOf(given)).toMatchObject({ path });
  });

  test("recursion", () => {
    expect(refusalOf(z.object({ tree })).message).toMatch(/recursive|cycle/i);
  });
});

function refusalOf(schema: z.ZodType): SchemaError {
  try {
    toStructuralSchema(schema, ["spec"]);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
