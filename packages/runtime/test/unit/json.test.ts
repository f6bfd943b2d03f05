import { anything, assert, bigInt, json, property } from "fast-check";
import { describe, expect, test } from "vitest";

import { deepEqual, deepFreeze } from "../../src/object/deep-equal.ts";
import { isDeeperThan, isTextDeeperThan } from "../../src/object/is-deeper-than.ts";
import { isRawNumber, rawNumber } from "../../src/object/raw-number.ts";
import { parseExactly, parseJson, stringifyJson, writeDeep } from "../../src/transport/parse-json.ts";

const deepText = (levels: number, inner: string): string => "[".repeat(levels) + inner + "]".repeat(levels);

test("[security/84] a number of a million digits is read in 50 ms, and keeps each of them", () => {
  const digits = `1${"0".repeat(1_000_000)}1`;
  const before = process.threadCpuUsage();
  const value = parseJson(`{"a":${digits}}`);
  const { user } = process.threadCpuUsage(before);
  expect(user / 1000).toBeLessThan(50);
  expect(JSON.stringify(value)).toBe(`{"a":${digits}}`);
});

describe("[runtime/RT-33] numbers", () => {
  const kept = [
    "9223372036854775807",
    "-9223372036854775808",
    "9007199254740993",
    "18446744073709551615",
    "0.12345678901234567890123",
    "12345678.123456789012345",
    "1e400",
    "-1.5E+999",
    "1e-400",
    "123456789012345678901234567890e5",
  ];
  for (const digits of kept) {
    test(`keeps ${digits} digit for digit`, () => {
      for (const text of [
        digits,
        `{"a":${digits}}`,
        `[1,${digits} ]`.replace(" ", ""),
        deepText(50, digits),
      ]) {
        expect(stringifyJson(parseJson(text))).toBe(text);
      }
      expect(isRawNumber(parseJson(digits))).toBe(true);
    });
  }

  const plain = [
    "0",
    "-1",
    "1.5",
    "1000000000000000000",
    "9007199254740991",
    "0.30000000000000004",
    "1e21",
    "5e-324",
  ];
  for (const digits of plain) {
    test(`reads ${digits} as a plain number`, () => {
      expect(parseJson(`{"a":${digits}}`)).toEqual({ a: Number(digits) });
      expect(parseExactly(`{"a":${digits}}`)).toEqual({ a: Number(digits) });
    });
  }

  test("keeps any run of digits in any JSON value", () => {
    const integer = bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String);
    assert(
      property(integer, json(), (digits, other) => {
        const text = JSON.stringify({ other: JSON.parse(other) as unknown }).replace(
          /\}$/,
          `,"n":${digits}}`,
        );
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });
});

describe("[runtime/RT-06] keys", () => {
  const text =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":"x","hasOwnProperty":9223372036854775807}';

  test("are own properties whatever their name", () => {
    const parsed = parseJson(text) as Record<string, unknown>;
    expect(Object.keys(parsed)).toEqual(["__proto__", "constructor", "toString", "hasOwnProperty"]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("are written as they were read", () => {
    expect(stringifyJson(parseJson(text))).toBe(text);
    expect(writeDeep(parseJson(text))).toBe(text);
  });
});

describe("round trips", () => {
  test("exact reading equals JSON.parse on any value", () => {
    assert(
      property(json(), (text) => {
        expect(parseExactly(text)).toEqual(JSON.parse(text));
        expect(deepEqual(parseExactly(text), JSON.parse(text))).toBe(true);
      }),
    );
  });

  test("deep writing equals JSON.stringify on any value", () => {
    assert(
      property(anything({ withNullPrototype: true, withSparseArray: true }), (value) => {
        expect(writeDeep({ value })).toBe(JSON.stringify({ value }));
      }),
    );
  });

  for (const levels of [1, 4_000, 9_000, 50_000]) {
    test(`copes with ${levels} levels, with and without a huge number`, () => {
      for (const inner of ["1", "9223372036854775807"]) {
        const text = deepText(levels, inner);
        const value = parseJson(text);
        expect(stringifyJson(value) === text).toBe(true);
        expect(deepEqual(value, deepFreeze(parseJson(text)))).toBe(true);
        const bytes = Buffer.from(text);
        const isDeeper = [levels - 1, levels].map((limit) => isTextDeeperThan(bytes, limit));
        expect(isDeeper).toEqual([true, false]);
      }
    });
  }

  test("keeps lone surrogates, and long strings full of escapes beside a huge number", () => {
    const lone = String.raw`{"a":"\ud800","b":"\udfff x","n":9223372036854775807}`;
    expect(stringifyJson(parseJson(lone))).toBe(lone);
    const escapes = JSON.stringify({ text: '"\\\n'.repeat(400_000), n: 1 }).replace(
      /1\}$/,
      "9223372036854775807}",
    );
    expect(stringifyJson(parseJson(escapes)) === escapes).toBe(true);
  });

  test("looks for huge numbers in linear time", () => {
    const hostile = [
      `":${"1".repeat(2_000_000)}x"`,
      `"${": ".repeat(500_000)}"`,
      `"${",1.1e".repeat(300_000)}"`,
    ];
    const startMs = performance.now();
    for (const text of hostile) expect(parseJson(text)).toBe(text.slice(1, -1));
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  test("refuses broken text", () => {
    for (const text of ["", "{", '{"a":1', "<html>", "[1,]", "NaN"]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
    expect(() => rawNumber("1;")).toThrow(SyntaxError);
  });
});

describe("comparison, freezing and depth", () => {
  interface Row {
    readonly name: string;
    readonly left: unknown;
    readonly right: unknown;
    readonly want: boolean;
  }
  const rows: readonly Row[] = [
    { name: "key order is free", left: { a: 1, b: 2 }, right: { b: 2, a: 1 }, want: true },
    { name: "undefined counts as absent", left: { a: 1, b: undefined }, right: { a: 1 }, want: true },
    { name: "list order counts", left: [1, 2], right: [2, 1], want: false },
    { name: "an inherited name is no field", left: { toString: 1 }, right: { b: 1 }, want: false },
    { name: "a list is no object", left: [], right: {}, want: false },
    { name: "null is no object", left: { a: null }, right: { a: {} }, want: false },
    {
      name: "raw numbers by digits",
      left: rawNumber("9223372036854775807"),
      right: rawNumber("9223372036854775807"),
      want: true,
    },
    {
      name: "raw numbers that differ",
      left: rawNumber("9223372036854775807"),
      right: rawNumber("9223372036854775806"),
      want: false,
    },
    {
      name: "an inherited __proto__ is no field",
      left: parseJson('{"__proto__":{}}'),
      right: { b: 1 },
      want: false,
    },
    { name: "an own __proto__ counts", left: parseJson('{"__proto__":1}'), right: {}, want: false },
  ];
  test.each(rows)("$name", ({ left, right, want }) => {
    expect(deepEqual(left, right)).toBe(want);
    expect(deepEqual(right, left)).toBe(want);
  });

  test("freezing reaches every level", () => {
    const frozen = deepFreeze({ a: [{ b: { c: 1 } }] });
    expect(Object.isFrozen(frozen.a[0]?.b)).toBe(true);
  });

  test("depth stops beyond the limit", () => {
    expect(isDeeperThan(1, 0)).toBe(false);
    expect(isDeeperThan({ a: [1] }, 1)).toBe(true);
    expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
    expect(isDeeperThan(parseJson(deepText(1_000, "")), 100)).toBe(true);
  });
});
