import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { Refusal } from "../../src/refusal.ts";
import { sourceOf } from "../../src/volume/decide-publish.ts";
import { decideRefresh, type NewestSource, type RefreshFacts } from "../../src/volume/decide-refresh.ts";
import type { ShareAccess } from "../../src/volume/observe-volume.ts";

const backing = (name: string) => ({ kind: "Secret" as const, namespace: "source", name });

function secretWith(version: string, data: Readonly<Record<string, string>>): KubeObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "x", resourceVersion: version },
    data: Object.fromEntries(encoded) as unknown,
  } as KubeObject;
}

/** A source that holds `<share>.pem=old` of version 1. */
function source(share: string, object: KubeObject): NewestSource {
  return { source: sourceOf(share, backing(share), secretWith("1", { [`${share}.pem`]: "old" })), object };
}

const current = (share: string): NewestSource => source(share, secretWith("1", { [`${share}.pem`]: "old" }));
const rotated = (share: string): NewestSource =>
  source(share, secretWith("2", { [`${share}.pem`]: "new", [`${share}-2.pem`]: "new" }));
const offered = (name: string): ShareAccess => ({ name, isPermitted: true, backing: backing(name) });

const held = new Map(["a.pem", "b.pem"].map((name) => [name, Buffer.from("old")]));

/** The files, or the reason of the refusal. */
function filesAfter(facts: RefreshFacts): readonly string[] | string {
  try {
    return [...decideRefresh(facts).payload].map(([key, bytes]) => `${key}=${bytes.toString()}`);
  } catch (error) {
    return error instanceof Refusal ? error.reason : String(error);
  }
}

const cases: readonly {
  readonly name: string;
  readonly newest: readonly NewestSource[];
  readonly access: readonly ShareAccess[];
  readonly want: readonly string[] | "Forbidden" | "KeyConflict";
}[] = [
  {
    name: "a permitted Share contributes its newest content",
    newest: [rotated("a")],
    access: [offered("a")],
    want: ["a-2.pem=new", "a.pem=new"],
  },
  {
    name: "a Share whose permission was revoked keeps its files",
    newest: [rotated("a")],
    access: [{ name: "a", isPermitted: false }],
    want: "Forbidden",
  },
  {
    name: "a Share that was deleted keeps its files",
    newest: [rotated("a")],
    access: [{ name: "a", isPermitted: true }],
    want: "Forbidden",
  },
  {
    name: "a Share that names another object keeps its files",
    newest: [rotated("a")],
    access: [{ name: "a", isPermitted: true, backing: backing("another") }],
    want: "Forbidden",
  },
  {
    name: "a Share without a review keeps its files",
    newest: [rotated("a")],
    access: [],
    want: "Forbidden",
  },
  {
    name: "a revoked Share keeps its files while another of the same volume is refreshed",
    newest: [rotated("a"), rotated("b")],
    access: [{ name: "a", isPermitted: false }, offered("b")],
    want: ["a.pem=old", "b-2.pem=new", "b.pem=new"],
  },
  {
    name: "a Share that did not change needs no review",
    newest: [current("a"), rotated("b")],
    access: [offered("b")],
    want: ["a.pem=old", "b-2.pem=new", "b.pem=new"],
  },
  {
    name: "a new key that a revoked Share holds already changes nothing",
    newest: [rotated("a"), source("b", secretWith("2", { "a.pem": "new" }))],
    access: [{ name: "a", isPermitted: false }, offered("b")],
    want: "KeyConflict",
  },
];

describe("a refresh of a running pod's volume", () => {
  test.each(cases)("$name", ({ newest, access, want }) => {
    expect(filesAfter({ newest, access, held })).toEqual(want);
  });

  test("remembers what a revoked Share contributed", () => {
    const { sources, denied } = decideRefresh({
      newest: [rotated("a"), rotated("b")],
      access: [{ name: "a", isPermitted: false }, offered("b")],
      held,
    });
    expect(denied).toEqual(["a"]);
    expect(sources).toMatchObject([
      { share: "a", version: "1", keys: ["a.pem"] },
      { share: "b", version: "2", keys: ["b-2.pem", "b.pem"] },
    ]);
  });
});
