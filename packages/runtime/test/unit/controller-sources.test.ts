import { describe, expect, test } from "vitest";

import { declarationChanged, passes } from "../../src/controller/controller-definition.ts";
import { Followers } from "../../src/controller/followed-watches.ts";
import { controllingOwner } from "../../src/controller/source-set.ts";
import { defineKind } from "../../src/object/kind.ts";
import { asLive, type KubeObject, type Live, type ObjectMeta } from "../../src/object/kube-object.ts";

function anObject(metadata: Partial<ObjectMeta>): Live {
  return asLive({ apiVersion: "v1", kind: "Thing", metadata: { name: "a", ...metadata } });
}

describe("declarationChanged", () => {
  const before = { generation: 1, labels: { a: "1" } };
  test.each([
    { name: "a new generation", after: { ...before, generation: 2 }, want: true },
    { name: "another label", after: { ...before, labels: { a: "2" } }, want: true },
    { name: "a deletion", after: { ...before, deletionTimestamp: "now" }, want: true },
    { name: "another object of the name", after: { ...before, uid: "u" }, want: true },
    { name: "only a new status", after: { ...before, resourceVersion: "9" }, want: false },
    { name: "anything on a kind without generation", after: { labels: { a: "1" } }, want: true },
  ])("$name passes: $want", ({ after, want }) => {
    const event = { type: "updated", isInitial: false, old: anObject(before), new: anObject(after) } as const;
    expect(passes(declarationChanged, event)).toBe(want);
  });

  test("a projection of one's own decides over updates only", () => {
    const predicate = { changed: ({ metadata }: KubeObject) => metadata.annotations };
    const object = anObject({});
    expect(passes(predicate, { type: "updated", isInitial: false, old: object, new: object })).toBe(false);
    expect(passes(predicate, { type: "deleted", isInitial: false, old: object })).toBe(true);
  });
});

describe("controllingOwner", () => {
  const kind = defineKind({
    group: "example.org",
    version: "v2",
    kind: "Widget",
    plural: "widgets",
    scope: "Namespaced",
  });
  const reference = { apiVersion: "example.org/v1", kind: "Widget", name: "w", uid: "u", controller: true };
  test.each([
    { name: "of another version", references: [reference], want: { name: "w", namespace: "n" } },
    { name: "that does not control", references: [{ ...reference, controller: false }], want: undefined },
    { name: "of another group", references: [{ ...reference, apiVersion: "v1" }], want: undefined },
    { name: "that is not there", references: [], want: undefined },
  ])("an owner $name", ({ references, want }) => {
    expect(controllingOwner(anObject({ namespace: "n", ownerReferences: references }), kind)).toEqual(want);
  });
});

describe("Followers", () => {
  test("a reference counts immediately and holds until a reconcile ends without it", () => {
    const unfollowed: string[] = [];
    const tracker = new Followers((target) => unfollowed.push(target));
    const first = tracker.begin("n/a");
    first.follow("Secret n/s");
    expect([...tracker.of("Secret n/s")]).toEqual(["n/a"]);
    first.end();
    const second = tracker.begin("n/a");
    second.follow("Secret n/t");
    expect([...tracker.of("Secret n/s")]).toEqual(["n/a"]);
    second.end();
    expect([...tracker.of("Secret n/s")]).toEqual([]);
    expect([...tracker.of("Secret n/t")]).toEqual(["n/a"]);
    tracker.forget("n/a");
    expect([...tracker.of("Secret n/t")]).toEqual([]);
    expect(unfollowed).toEqual(["Secret n/s", "Secret n/t"]);
  });

  test("a reconcile that failed halfway keeps the references it had", () => {
    const unfollowed: string[] = [];
    const tracker = new Followers((target) => unfollowed.push(target));
    const first = tracker.begin("n/a");
    first.follow("Secret n/s");
    first.end();
    tracker.begin("n/a").follow("Secret n/t");
    expect([...tracker.of("Secret n/s")]).toEqual(["n/a"]);
    tracker.begin("n/a").end();
    expect([...tracker.of("Secret n/s"), ...tracker.of("Secret n/t")]).toEqual([]);
  });
});
