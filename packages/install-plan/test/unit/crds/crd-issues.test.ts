import type { KubeObject } from "@quartermaster/runtime";
import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { brokenByUpdate, unsafeCrdChanges } from "../../../src/crds/crd-issues.ts";
import { isEstablished, isServed, servedVersions } from "../../../src/crds/established-kinds.ts";
import { schemaProblems } from "../../../src/crds/schema-problems.ts";
import { readJson } from "../../../src/manifest/read-json.ts";

interface CrdGiven {
  readonly versions?: readonly string[];
  readonly unserved?: readonly string[];
  readonly stored?: readonly string[];
  readonly spec?: object;
  readonly names?: object;
  readonly conditions?: Readonly<Record<string, string>>;
}

function aCrd({
  versions = ["v1"],
  unserved = [],
  stored = ["v1"],
  spec = {},
  names = {},
  conditions = {},
}: CrdGiven): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", ...names },
      versions: [
        ...versions.map((name) => ({ name, served: true })),
        ...unserved.map((name) => ({ name, served: false })),
      ],
      ...spec,
    },
    status: {
      storedVersions: stored,
      conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })),
    },
  };
}

describe("served versions", () => {
  const taken = { Established: "True", NamesAccepted: "True" };
  const cases = [
    { name: "serves once established", given: aCrd({ conditions: taken }), version: "v1", want: true },
    {
      name: "does not serve before",
      given: aCrd({ conditions: { NamesAccepted: "True" } }),
      version: "v1",
      want: false,
    },
    {
      name: "does not serve under names of another",
      given: aCrd({ conditions: { ...taken, NamesAccepted: "False" } }),
      version: "v1",
      want: false,
    },
    {
      name: "does not serve a version that is off",
      given: aCrd({ unserved: ["v2"], conditions: taken }),
      version: "v2",
      want: false,
    },
    {
      name: "does not serve a version it lacks",
      given: aCrd({ conditions: taken }),
      version: "constructor",
      want: false,
    },
    { name: "does not serve when it is no CRD", given: null, version: "v1", want: false },
  ];
  test.for(cases)("$name", ({ given, version, want }) => {
    expect(isServed(given, version)).toBe(want);
  });

  test("lists them in the CRD's order", () => {
    expect(servedVersions(aCrd({ versions: ["v2", "v1"], unserved: ["v0"] }))).toEqual(["v2", "v1"]);
    expect(isEstablished(aCrd({}))).toBe(false);
  });
});

describe("unsafeCrdChanges", () => {
  const cases = [
    { name: "allows no change", live: aCrd({}), next: aCrd({}), want: [] },
    { name: "allows a new version", live: aCrd({}), next: aCrd({ versions: ["v1", "v2"] }), want: [] },
    {
      name: "allows to drop a version that nothing was stored in",
      live: aCrd({ versions: ["v1", "v2"] }),
      next: aCrd({}),
      want: [],
    },
    {
      name: "allows to leave names to their defaults",
      live: aCrd({ names: { singular: "widget", listKind: "WidgetList" } }),
      next: aCrd({}),
      want: [],
    },
    {
      name: "allows new short names",
      live: aCrd({}),
      next: aCrd({ names: { shortNames: ["w"] } }),
      want: [],
    },
    {
      name: "refuses to drop a stored version",
      live: aCrd({ versions: ["v1", "v2"], stored: ["v1", "v2"] }),
      next: aCrd({ versions: ["v2"] }),
      want: ["spec.versions"],
    },
    {
      name: "refuses to drop a stored version that is off already",
      live: aCrd({ unserved: ["v0"], stored: ["v0", "v1"] }),
      next: aCrd({}),
      want: ["spec.versions"],
    },
    {
      name: "refuses to stop serving a stored version",
      live: aCrd({ versions: ["v1", "v2"] }),
      next: aCrd({ versions: ["v2"], unserved: ["v1"] }),
      want: ["spec.versions[v1].served"],
    },
    {
      name: "refuses another scope",
      live: aCrd({}),
      next: aCrd({ spec: { scope: "Cluster" } }),
      want: ["spec.scope"],
    },
    {
      name: "refuses another group and other names",
      live: aCrd({}),
      next: aCrd({ spec: { group: "x.com" }, names: { kind: "W", plural: "ws" } }),
      want: ["spec.group", "spec.names.kind", "spec.names.plural"],
    },
  ];
  test.for(cases)("$name", ({ live, next, want }) => {
    expect(unsafeCrdChanges(live, next).map(({ field }) => field)).toEqual(want);
  });
});

describe("schemaFaults", () => {
  const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
  const int = { type: "integer" };
  const big: unknown = (readJson("9007199254740993") as { value: unknown }).value;
  const cases: readonly {
    readonly name: string;
    readonly schema: unknown;
    readonly given: unknown;
    readonly want: readonly string[];
  }[] = [
    {
      name: "accepts what fits",
      schema: object({ a: int, b: { type: "string" } }, { required: ["a"] }),
      given: { a: 1, b: "x" },
      want: [],
    },
    { name: "accepts unknown fields, which are pruned", schema: object({}), given: { x: 1 }, want: [] },
    {
      name: "accepts unknown fields that are preserved",
      schema: object({}, { "x-kubernetes-preserve-unknown-fields": true }),
      given: { x: { y: 1 } },
      want: [],
    },
    {
      name: "accepts anything without a type",
      schema: { "x-kubernetes-preserve-unknown-fields": true },
      given: [1],
      want: [],
    },
    {
      name: "finds wrong types at their paths",
      schema: object({ a: int, b: object({ c: { type: "array", items: { type: "boolean" } } }) }),
      given: { a: "1", b: { c: [true, 0] } },
      want: ["a must be of type integer", "b.c[1] must be of type boolean"],
    },
    {
      name: "takes 1.0 for an integer and 1.5 not",
      schema: { type: "array", items: int },
      given: [1, 1.5],
      want: ["[1] must be of type integer"],
    },
    { name: "takes integers beyond 2^53", schema: int, given: big, want: [] },
    {
      name: "finds required fields",
      schema: object({ a: int }, { required: ["a", "constructor"] }),
      given: {},
      want: ["a is required", "constructor is required"],
    },
    {
      name: "does not miss a required field that has a default",
      schema: object({ a: { ...int, default: 1 } }, { required: ["a"] }),
      given: {},
      want: [],
    },
    {
      name: "takes null in a field for absent, as the server does",
      schema: object(
        { a: { ...int, nullable: true }, b: { ...int, default: 1 }, c: int, d: int },
        { required: ["b", "c"] },
      ),
      given: { a: null, b: null, c: null, d: null },
      want: ["c is required"],
    },
    {
      name: "finds null in lists and maps",
      schema: object({ a: { type: "array", items: int }, b: { type: "object", additionalProperties: int } }),
      given: { a: [null], b: { x: null } },
      want: ["a[0] must be of type integer", "b.x must be of type integer"],
    },
    {
      name: "knows enums",
      schema: { type: "string", enum: ["a", "="] },
      given: "b",
      want: [" is not one of the allowed values"],
    },
    {
      name: "knows limits of numbers",
      schema: { type: "array", items: { type: "number", minimum: 1, maximum: 3, exclusiveMaximum: true } },
      given: [1, 0, 3],
      want: ["[1] must be at least 1", "[2] must be less than 3"],
    },
    {
      name: "knows multiples",
      schema: { type: "integer", multipleOf: 5 },
      given: 7,
      want: [" must be a multiple of 5"],
    },
    {
      name: "counts characters, not units",
      schema: { type: "array", items: { type: "string", minLength: 2, maxLength: 2 } },
      given: ["😀😀", "😀", "abc"],
      want: ["[1] must have at least 2 characters", "[2] must have at most 2 characters"],
    },
    {
      name: "knows limits of lists and objects",
      schema: object({ a: { type: "array", maxItems: 1 }, b: object({}, { minProperties: 1 }) }),
      given: { a: [1, 2], b: {} },
      want: ["a must have at most 1 entries", "b must have at least 1 entries"],
    },
    {
      name: "knows patterns",
      schema: { type: "string", pattern: "^[a-z]+$" },
      given: "A",
      want: [" does not match the pattern"],
    },
    {
      name: "follows additionalProperties, strange keys too",
      schema: { type: "object", additionalProperties: int },
      given: JSON.parse('{"__proto__":"x","a.b":"y","ok":1}'),
      want: ["__proto__ must be of type integer", '["a.b"] must be of type integer'],
    },
    {
      name: "takes int-or-string",
      schema: { type: "array", items: { "x-kubernetes-int-or-string": true } },
      given: [1, "50%", 1.5, true],
      want: ["[2] must be of type int-or-string", "[3] must be of type int-or-string"],
    },
    {
      name: "knows alternatives",
      schema: { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      given: { a: 1, b: 1 },
      want: [" must match exactly one schema (oneOf)"],
    },
    {
      name: "knows anyOf, allOf and not",
      schema: { anyOf: [{ minimum: 5 }, { maximum: 1 }], allOf: [{ maximum: 2 }], not: { multipleOf: 3 } },
      given: 3,
      want: [
        " must be at most 2",
        " must match at least one schema (anyOf)",
        " must not match the excluded schema (not)",
      ],
    },
    {
      name: "leaves CEL rules to the server",
      schema: object({}, { "x-kubernetes-validations": [{ rule: "false" }] }),
      given: {},
      want: [],
    },
  ];
  test.for(cases)("$name", ({ schema, given, want }) => {
    expect(schemaProblems(schema, given).map(({ path, message }) => `${path} ${message}`)).toEqual(want);
  });

  test("never quotes a value", () => {
    const problems = schemaProblems(object({ a: int, b: { enum: ["x"] }, c: { pattern: "^x$" } }), {
      a: "hunter2",
      b: "hunter2",
      c: "hunter2",
    });
    expect(problems).toHaveLength(3);
    expect(JSON.stringify(problems)).not.toContain("hunter2");
  });
});

describe("patterns of a schema", () => {
  const problemsOf = (pattern: string, text: string): readonly string[] =>
    schemaProblems({ type: "string", pattern }, text).map(({ message }) => message);

  test.each([
    { pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", fits: "a-b", other: "-b" },
    { pattern: "^\\d+(ms|s|m|h)$", fits: "10ms", other: "10" },
    { pattern: "^(a|b|c)$", fits: "b", other: "d" },
    { pattern: "^v[1-9]\\d*$", fits: "v12", other: "v0" },
    { pattern: "[(+*]+x", fits: "(x", other: "x" },
    { pattern: "^.{1,20}$", fits: "abc", other: "" },
    { pattern: "(a+)+$", fits: "aa", other: "b" },
    { pattern: "^(a|a)*$", fits: "aa", other: "b" },
    { pattern: "(x+x+)+y", fits: "xxy", other: "xy" },
    { pattern: ".*.*.*.*=", fits: "a=", other: "a" },
  ])("[security/99] $pattern is matched", ({ pattern, fits, other }) => {
    expect(problemsOf(pattern, fits)).toEqual([]);
    expect(problemsOf(pattern, other)).toEqual(["does not match the pattern"]);
  });

  test.each(["(a)\\1", "(?=a)b", "(", "\\k<a>(?<a>x)", "(?<!a)b"])(
    "[security/99] %s, which RE2 cannot express, is reported and not run",
    (pattern) => {
      expect(problemsOf(pattern, "a")).toEqual([
        "has a pattern that cannot be checked: a pattern must be valid RE2 syntax",
      ]);
    },
  );

  test.each([
    { name: "three repetitions", pattern: "^a*a*a*b$" },
    { name: "repeated repetition", pattern: "^(a+)+b$" },
    { name: "ten repetitions", pattern: `^${".*".repeat(10)}b$` },
    { name: "very many states", pattern: "[ac]*a[ac]{400}[bd]$" },
    { name: "repetition that is written out", pattern: "^((a{0,90}){0,90}){0,90}b$" },
  ])("[security/99] $name on long texts end soon", ({ pattern }) => {
    const texts = ["a".repeat(2_000), "a".repeat(10_000), "aacaccca".repeat(1_200), "a".repeat(1_000_000)];
    for (const text of texts) expect(cpuMs(() => problemsOf(pattern, text))).toBeLessThan(500);
  });
});

describe("brokenByUpdate", () => {
  const version = (name: string, a: object): object => ({
    name,
    served: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        required: ["spec"],
        properties: { spec: { type: "object", properties: { a } } },
      },
    },
  });
  const next = aCrd({
    spec: { versions: [version("v1", { type: "integer", minimum: 5 }), version("v2", { type: "string" })] },
  });
  const widget = (name: string, a: number): KubeObject & { readonly spec: object } => ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name, namespace: "shop" },
    spec: { a },
  });
  const objects = [widget("small", 1), widget("large", 7)];

  test("names the objects that no longer fit, with the paths", () => {
    expect(brokenByUpdate(next, "v1", objects)).toEqual([
      {
        object: { apiVersion: "example.com/v1", kind: "Widget", namespace: "shop", name: "small" },
        problems: [{ path: "spec.a", message: "must be at least 5" }],
      },
    ]);
  });

  test("judges by the version requested, and by none that is not there", () => {
    expect(brokenByUpdate(next, "v2", objects)).toHaveLength(2);
    expect(brokenByUpdate(next, "v3", objects)).toEqual([]);
  });
});
