import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { compareVersions } from "../../src/object/kube-object.ts";
import { cutManagedFields, decodeEvent, FrameSplitter } from "../../src/watch/decode-event.ts";

const options = { keepManagedFields: false, kindName: "Thing" };

function split(bytes: Uint8Array, cuts: readonly number[]): readonly string[] {
  const splitter = new FrameSplitter();
  const locations = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
  return locations.flatMap((from, at) => [
    ...splitter.frames(bytes.subarray(from, locations[at + 1] ?? bytes.length)),
  ]);
}

describe("FrameSplitter", () => {
  test("gives the same frames wherever the chunks end, also within a character", () => {
    const line = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\n"));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat({ max: 400 })), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const want = lines.map((text) => Buffer.from(text).toString());
        expect(
          split(
            bytes,
            cuts.map((cut) => Math.min(cut, bytes.length)),
          ),
        ).toEqual(want);
      }),
    );
  });

  test("joins a frame of 8 MiB in chunks of 1 KiB in linear time", () => {
    const splitter = new FrameSplitter();
    const chunk = Buffer.alloc(1_024, "x");
    const startMs = performance.now();
    for (let at = 0; at < 8_192; at += 1) expect([...splitter.frames(chunk)]).toEqual([]);
    expect([...splitter.frames(Buffer.from("\n"))][0]).toHaveLength(8_192 * 1_024);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  test("gives up on a frame that never ends", () => {
    const splitter = new FrameSplitter();
    const chunk = Buffer.alloc(4 * 1_024 * 1_024, "x");
    expect(() => {
      for (let at = 0; at < 10; at += 1) splitter.frames(chunk).next();
    }).toThrow(RangeError);
  });
});

describe("cutManagedFields", () => {
  const fields = [{ manager: 'a "b]" {', fieldsV1: { 'f:k:{"x":[1]}': {} }, apiVersion: "v1" }];
  const cases = [
    { name: "in the middle", metadata: { name: "a", managedFields: fields, uid: "u" } },
    { name: "at the end", metadata: { name: "a", managedFields: fields } },
    { name: "at the beginning", metadata: { managedFields: fields, name: "a" } },
    { name: "alone", metadata: { managedFields: fields } },
    { name: "empty", metadata: { name: "a", managedFields: [] } },
  ];
  test.each(cases)("cuts them out $name", ({ metadata }) => {
    const object = { apiVersion: "v1", kind: "Thing", metadata, spec: { a: 1 } };
    const { managedFields: _cut, ...rest } = metadata as Record<string, unknown>;
    const text = cutManagedFields(JSON.stringify({ type: "ADDED", object }));
    expect(JSON.parse(text)).toEqual({ type: "ADDED", object: { ...object, metadata: rest } });
  });

  const elsewhere = [
    { name: "in the spec", object: { metadata: { name: "a" }, spec: { managedFields: [1] } } },
    { name: "at the top", object: { managedFields: [1], metadata: { name: "a" } } },
    { name: "in a string", object: { metadata: { name: 'x","managedFields":[1],"y' } } },
    { name: "in a key", object: { metadata: { annotations: { 'x"managedFields': "[" } } } },
    { name: "in a label", object: { metadata: { labels: { managedFields: "[" } } } },
    { name: "deeper in metadata", object: { metadata: { annotations: { managedFields: [1] } } } },
    { name: "in data before metadata", object: { data: { metadata: { managedFields: [1] } }, metadata: {} } },
  ];
  test.each(elsewhere)("leaves what is $name", ({ object }) => {
    const text = JSON.stringify({ type: "ADDED", object });
    expect(cutManagedFields(text)).toBe(text);
  });

  test("does for any object what dropping the field after the parse does", () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.array(fc.jsonValue()), (spec, annotation, managedFields) => {
        const metadata = { annotations: { a: annotation }, managedFields, name: "x" };
        const object = { apiVersion: "v1", kind: "Thing", metadata, spec: JSON.parse(spec) as unknown };
        const event = decodeEvent(JSON.stringify({ type: "ADDED", object }), options);
        const { managedFields: _cut, ...rest } = metadata;
        expect(event).toEqual({
          kind: "changed",
          object: JSON.parse(JSON.stringify({ ...object, metadata: rest })) as unknown,
        });
      }),
    );
  });
});

describe("decodeEvent", () => {
  const status = (code: number, more: object = {}): string =>
    JSON.stringify({
      type: "ERROR",
      object: { kind: "Status", metadata: {}, code, message: "too old resource version", ...more },
    });

  test("reads a bookmark, and the one that ends the initial events", () => {
    const metadata = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
    expect(decodeEvent(JSON.stringify({ type: "BOOKMARK", object: { metadata } }), options)).toEqual({
      kind: "bookmark",
      resourceVersion: "7",
      endsInitial: true,
    });
  });

  test.each([
    { name: "410", frame: status(410, { reason: "Expired" }), want: { class: "gone" } },
    {
      name: "504 of a version that is too large",
      frame: status(504, { reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
      want: { reason: "ResourceVersionTooLarge" },
    },
    { name: "500", frame: status(500), want: { class: "transient" } },
  ])("reads an ERROR event with $name", ({ frame, want }) => {
    expect(decodeEvent(frame, options)).toMatchObject({ kind: "error", error: want });
  });

  test.each([
    "{",
    "[]",
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":1}',
    '{"type":"NEW","object":{"metadata":{}}}',
  ])("refuses %s without quoting it", (frame) => {
    expect(() => decodeEvent(frame, options)).toThrow(/^a watch event/);
  });

  test("[runtime/RT-06] keeps strange keys as own properties and large numbers digit for digit", () => {
    const frame =
      '{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"__proto__":"p","constructor":"c"}},"n":9223372036854775807}}';
    const event = decodeEvent(frame, options);
    const labels = event.kind === "changed" ? event.object.metadata.labels : undefined;
    expect(Object.keys(labels ?? {})).toEqual(["__proto__", "constructor"]);
    expect(JSON.stringify(event.kind === "changed" ? event.object : {})).toContain("9223372036854775807");
  });

  test.each([
    { levels: 900, kind: "changed" },
    { levels: 1_100, kind: "tooDeep" },
    { levels: 9_000, kind: "tooDeep" },
  ])("[runtime/RT-05] tells an object nested $levels deep apart: $kind", ({ levels, kind }) => {
    const deep = '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
    const frame = `{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":${deep}}}`;
    expect(decodeEvent(frame, options).kind).toBe(kind);
  });

  test("[runtime/RT-05] a deleted one stays deleted, however deep it was", () => {
    const deep = '{"a":'.repeat(2_000) + "1" + "}".repeat(2_000);
    const frame = `{"type":"DELETED","object":{"kind":"A","apiVersion":"v1","metadata":{"name":"a"},"spec":${deep}}}`;
    const object = { apiVersion: "v1", kind: "A", metadata: { name: "a" } };
    expect(decodeEvent(frame, options)).toEqual({ kind: "deleted", object });
  });
});

describe("compareVersions", () => {
  test("orders numbers of any length", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }), (one, other) => {
        const order = compareVersions(String(one), String(other));
        expect(Math.sign(order)).toBe(one === other ? 0 : Number(one > other) * 2 - 1);
      }),
    );
  });
});
