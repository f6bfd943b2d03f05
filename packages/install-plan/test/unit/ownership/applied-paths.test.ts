import { type FieldSet, unownedPaths } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { beyond, outside, pathsBeyond, touches } from "../../../src/ownership/applied-manifest.ts";

interface Row {
  readonly name: string;
  readonly manifest: object;
  readonly owned: FieldSet;
  readonly want: readonly string[];
}

const certificate = {};

const rows: readonly Row[] = [
  {
    name: "nothing is missing",
    manifest: { data: { a: "1" } },
    owned: { "f:data": { "f:a": certificate } },
    want: [],
  },
  {
    name: "a field that another manager took is named",
    manifest: { data: { a: "1", b: "2" } },
    owned: { "f:data": { "f:a": certificate } },
    want: ["/data/b"],
  },
  {
    name: "a removed map is named by its paths",
    manifest: { data: { a: "1", b: "2" } },
    owned: {},
    want: ["/data/a", "/data/b"],
  },
  {
    name: "an empty map claims nothing",
    manifest: { spec: { emptyDir: {} } },
    owned: { "f:spec": { "f:x": certificate } },
    want: [],
  },
  {
    name: "an atomic value is owned as a whole",
    manifest: { spec: { args: ["a", "b"] } },
    owned: { "f:spec": { "f:args": certificate } },
    want: [],
  },
  {
    name: "items of a list are found by their keys",
    manifest: { spec: { ports: [{ port: 80 }, { port: 443 }] } },
    owned: {
      "f:spec": {
        "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": certificate, "f:port": certificate } },
      },
    },
    want: ["/spec/ports/1"],
  },
  {
    name: "items of a set are found by their value",
    manifest: { metadata: { finalizers: ["a", "b"] } },
    owned: { "f:metadata": { "f:finalizers": { 'v:"a"': certificate } } },
    want: ["/metadata/finalizers/1"],
  },
  {
    name: "names, status and nulls are owned by no one",
    manifest: {
      apiVersion: "v1",
      kind: "X",
      metadata: { name: "n", namespace: "m", creationTimestamp: null },
      status: { a: 1 },
      spec: null,
    },
    owned: {},
    want: [],
  },
  {
    name: "keys are escaped, and those of Object.prototype are keys like others",
    manifest: { data: { "a/b~c": "1", constructor: "2", ["__proto__"]: "3" } },
    owned: { "f:data": { "f:x": certificate } },
    want: ["/data/a~1b~0c", "/data/constructor", "/data/__proto__"],
  },
];

describe("which fields of a manifest are not ours any more", () => {
  test.each(rows)("$name", ({ manifest, owned, want }) => {
    expect(unownedPaths(manifest, owned)).toEqual(want);
  });

  test("a set is tested with a path at, above and below its fields", () => {
    const set: FieldSet = {
      "f:spec": { "f:replicas": certificate, "f:template": { "f:spec": certificate } },
    };
    expect(
      ["/spec", "/spec/replicas", "/spec/template/spec/containers", "/spec/paused", "/data"].map((path) =>
        touches(set, path),
      ),
    ).toEqual([true, true, true, false, false]);
  });

  test("what one set has beyond another is named at the top", () => {
    const theirs: FieldSet = {
      "f:data": { "f:a": certificate, "f:extra": certificate },
      "f:other": { "f:x": certificate },
    };
    expect(pathsBeyond(theirs, { "f:data": { "f:a": certificate } })).toEqual(["/data/extra", "/other"]);
  });
});

test("a set is divided at pointers, and no empty set is left that would mean the field above", () => {
  const set = { "f:spec": { "f:replicas": {}, "f:paused": {} }, "f:data": { ".": {}, "f:a": {} } };
  const rest = outside(set, ["/spec/replicas", "/data", "/no/such"]);
  expect(rest).toEqual({ "f:spec": { "f:paused": {} } });
  expect(beyond(set, rest)).toEqual({ "f:spec": { "f:replicas": {} }, "f:data": { ".": {}, "f:a": {} } });
  expect(outside({ "f:spec": { "f:replicas": {} } }, ["/spec/replicas"])).toEqual({});
});
