import { assert, jsonValue, property } from "fast-check";
import { describe, expect, test } from "vitest";

import type { JsonPatchOperation } from "../../src/object/patch-between.ts";
import { patchBetween } from "../../src/object/patch-between.ts";
import { rawNumber } from "../../src/object/raw-number.ts";

describe("patchBetween", () => {
  test.each([
    { name: "equal values", before: { a: 1 }, after: { a: 1 }, want: [] },
    { name: "a new field", before: {}, after: { a: 1 }, want: [{ op: "add", path: "/a", value: 1 }] },
    { name: "a lost field", before: { a: 1 }, after: {}, want: [{ op: "remove", path: "/a" }] },
    {
      name: "an undefined field as a lost one",
      before: { a: 1 },
      after: { a: undefined },
      want: [{ op: "remove", path: "/a" }],
    },
    {
      name: "a field deep inside, and nothing around it",
      before: { spec: { a: 1, b: { c: 2 } } },
      after: { spec: { a: 1, b: { c: 3 } } },
      want: [{ op: "replace", path: "/spec/b/c", value: 3 }],
    },
    {
      name: "an appended item without naming the others",
      before: { volumes: [{ name: "a" }] },
      after: { volumes: [{ name: "a" }, { name: "b" }] },
      want: [{ op: "add", path: "/volumes/1", value: { name: "b" } }],
    },
    {
      name: "an item put in front",
      before: [2, 3],
      after: [1, 2, 3],
      want: [{ op: "add", path: "/0", value: 1 }],
    },
    { name: "an item taken out", before: [1, 2, 3], after: [1, 3], want: [{ op: "remove", path: "/1" }] },
    {
      name: "keys with slashes and tildes",
      before: { "a/b": 1, "c~d": 1 },
      after: { "a/b": 2, "c~d": 1 },
      want: [{ op: "replace", path: "/a~1b", value: 2 }],
    },
    {
      name: "another type",
      before: { a: [1] },
      after: { a: { b: 1 } },
      want: [{ op: "replace", path: "/a", value: { b: 1 } }],
    },
    {
      name: "numbers beyond a double",
      before: { a: rawNumber("9223372036854775807") },
      after: { a: rawNumber("9223372036854775806") },
      want: [{ op: "replace", path: "/a", value: rawNumber("9223372036854775806") }],
    },
    {
      name: "a key that is no prototype",
      before: JSON.parse('{"__proto__":{"a":1}}') as unknown,
      after: JSON.parse('{"__proto__":{"a":2}}') as unknown,
      want: [{ op: "replace", path: "/__proto__/a", value: 2 }],
    },
  ])("names $name", ({ before, after, want }) => {
    expect(patchBetween(before, after)).toEqual(want);
  });

  test("turns any value into any other", () => {
    const value = jsonValue({ maxDepth: 4 });
    assert(
      property(value, value, (before, after) => {
        // A patch cannot tell 0 from -0, and JSON does not either.
        const plain = JSON.parse(JSON.stringify(after)) as unknown;
        expect(patched(JSON.parse(JSON.stringify(before)), patchBetween(before, plain))).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** What an API server makes of the operations (RFC 6902), on plain JSON. */
function patched(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const holder: Record<string, unknown> = { root: structuredClone(document) };
  for (const operation of operations) {
    const keys = ["root", ...operation.path.split("/").slice(1)].map((key) =>
      key.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
    const last = keys.pop() ?? "";
    const parent = keys.reduce<unknown>((at, key) => Reflect.get(at as object, key), holder) as object;
    if (Array.isArray(parent)) {
      if (operation.op === "remove") parent.splice(Number(last), 1);
      else if (operation.op === "add") parent.splice(Number(last), 0, operation.value);
      else if (operation.op === "replace") parent[Number(last)] = operation.value;
    } else if (operation.op === "remove") Reflect.deleteProperty(parent, last);
    else if (operation.op === "add" || operation.op === "replace")
      Object.defineProperty(parent, last, {
        value: operation.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return holder["root"];
}
