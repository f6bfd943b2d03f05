import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { freeSoon, TextCutter } from "../../src/transport/text-cutter.ts";

const limitBytes = 16;

function cut(text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  const locations = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
  const cutter = new TextCutter(limitBytes);
  const chunks = locations.map((from, at) =>
    cutter.cut(bytes.subarray(from, locations[at + 1] ?? bytes.length)),
  );
  return Buffer.concat([...chunks, cutter.end()]).toString();
}

describe("TextCutter", () => {
  const cases = [
    { name: "a short string", given: '{"a":"b"}', want: '{"a":"b"}' },
    { name: "a string of the limit", given: `["${"x".repeat(16)}"]`, want: `["${"x".repeat(16)}"]` },
    { name: "one byte more", given: `["${"x".repeat(17)}",1]`, want: '["",1]' },
    { name: "two long ones", given: `["${"x".repeat(90)}","a","${"y".repeat(90)}"]`, want: '["","a",""]' },
    { name: "escaped quotes", given: String.raw`["\"\"\"\"\"\"\"\"\"\"","b"]`, want: '["","b"]' },
    { name: "a backslash at the end", given: String.raw`["a\\","b"]`, want: String.raw`["a\\","b"]` },
    { name: "bytes, not characters", given: `["${"é".repeat(9)}"]`, want: '[""]' },
    { name: "no string", given: "[1,true,null]", want: "[1,true,null]" },
    { name: "a short string without an end", given: '["abc', want: '["abc' },
    { name: "a long one without an end", given: `["${"x".repeat(90)}`, want: '["' },
    { name: "nothing", given: "", want: "" },
  ];
  test.each(cases)("$name", ({ given, want }) => {
    expect(cut(given)).toBe(want);
    const everywhere = Array.from({ length: Buffer.byteLength(given) }, (_, at) => at);
    expect(cut(given, everywhere)).toBe(want);
  });

  test("gives for any JSON in any chunks what emptying after the parse gives", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", '"', "\\", "é", "\n", "{", "]"), maxLength: 30 });
    const value = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 3 }, letters, fc.integer(), fc.array(tie("node"), { maxLength: 4 })),
    })).node;
    const emptied = (each: unknown): unknown => {
      if (Array.isArray(each)) return each.map(emptied);
      if (typeof each !== "string") return each;
      return Buffer.byteLength(JSON.stringify(each)) - 2 > limitBytes ? "" : each;
    };
    fc.assert(
      fc.property(value, fc.array(fc.nat({ max: 300 })), (given, cuts) => {
        const text = JSON.stringify(given);
        const locations = cuts.map((location) => Math.min(location, Buffer.byteLength(text)));
        expect(JSON.parse(cut(text, locations))).toEqual(emptied(given));
      }),
    );
  });

  test("holds none of a long string, however many chunks it comes in", () => {
    const cutter = new TextCutter(512);
    const chunk = Buffer.alloc(64 * 1024, "x");
    let keptBytes = cutter.cut(Buffer.from('{"data":{"key":"')).length;
    for (let at = 0; at < 100; at += 1) keptBytes += cutter.cut(chunk).length;
    expect(keptBytes).toBe('{"data":{"key":"'.length);
    expect(cutter.cut(Buffer.from('"}}')).toString()).toBe('"}}');
    expect(cutter.end()).toHaveLength(0);
  });

  test("does not keep a chunk alive by a part of it", () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    chunk.write('["a"]', 0);
    const rest = new TextCutter(16).cut(chunk.subarray(0, 5));
    expect(rest.buffer).not.toBe(chunk.buffer);
    expect(rest.toString()).toBe('["a"]');
  });
});

test.each([
  { name: "a chunk of its own is freed", sizeBytes: 16 * 1024, want: true },
  { name: "what may be the pool of all Buffers is not", sizeBytes: Buffer.poolSize, want: false },
])("$name", async ({ sizeBytes, want }) => {
  const chunk = new Uint8Array(new ArrayBuffer(sizeBytes), 10, 100);
  freeSoon(chunk);
  freeSoon(chunk);
  expect(chunk.buffer.detached).toBe(false);
  await Promise.resolve();
  expect(chunk.buffer.detached).toBe(want);
});
