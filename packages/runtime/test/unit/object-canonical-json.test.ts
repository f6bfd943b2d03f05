import { assert, jsonValue, property } from "fast-check";
import { describe, expect, test } from "vitest";

import { canonicalJson, digestOf } from "../../src/object/canonical-json.ts";
import { parseJson as read } from "../../src/transport/parse-json.ts";

describe("canonicalJson", () => {
  const cases = [
    {
      name: "sorts keys by code unit",
      given: '{"b":1,"a":2,"B":3,"é":4,"_":5}',
      want: '{"B":3,"_":5,"a":2,"b":1,"é":4}',
    },
    {
      name: "sorts at every level and keeps the order of lists",
      given: '[{"b":[2,1],"a":{}}]',
      want: '[{"a":{},"b":[2,1]}]',
    },
    { name: "drops white space", given: ' { "a" : [ 1 , null ] } ', want: '{"a":[1,null]}' },
    {
      name: "keeps __proto__ and constructor",
      given: '{"__proto__":{"a":1},"constructor":2}',
      want: '{"__proto__":{"a":1},"constructor":2}',
    },
    { name: "keeps integers beyond 2^53", given: '{"a":9007199254740993}', want: '{"a":9007199254740993}' },
    { name: "writes equal numbers alike", given: "[1.50,0.10,1e3,-0]", want: "[1.5,0.1,1000,0]" },
    {
      name: "keeps what no double can hold",
      given: "[1e400,0.12345678901234567890123]",
      want: "[1e400,0.12345678901234567890123]",
    },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    expect(canonicalJson(read(given))).toBe(want);
  });

  test("leaves out fields that are undefined", () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  });

  test("writes 9,000 levels", () => {
    const deep: unknown = JSON.parse(`${'{"a":['.repeat(4_500)}${"]}".repeat(4_500)}`);
    expect(canonicalJson(deep)).toBe(`${'{"a":['.repeat(4_500)}${"]}".repeat(4_500)}`);
  });

  test("says the same for the same value in any key order, and reads back as it was", () => {
    assert(
      property(jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

test("digestOf is the SHA-256 of the canonical text", () => {
  expect(digestOf({ b: 1, a: 2 })).toBe("d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772");
  expect(digestOf({ a: 2, b: 1 })).toBe(digestOf({ b: 1, a: 2 }));
});
