import { describe, expect, test } from "vitest";

import { mappedFrom } from "../../src/controller/controller-definition.ts";
import { FollowedWatches } from "../../src/controller/followed-watches.ts";
import { SourceSet } from "../../src/controller/source-set.ts";
import { classify } from "../../src/errors.ts";
import type { InformerEvent } from "../../src/informers/informer-event.ts";
import { configMaps, secrets } from "../../src/kinds/core.ts";
import { defineKind } from "../../src/object/kind.ts";
import type { Live } from "../../src/object/kube-object.ts";
import { aLive, FakePool } from "../support/fake-pool.ts";

const widgets = defineKind({
  group: "example.org",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const parts = defineKind({
  group: "example.org",
  version: "v1",
  kind: "Part",
  plural: "parts",
  scope: "Namespaced",
});

const ownedBy = (name: string): object => ({
  ownerReferences: [{ apiVersion: "example.org/v1", kind: "Widget", name, uid: "u", controller: true }],
});
const labelled = (name: string): object => ({ labels: { widget: name } });
const added = (object: Live, isInitial = false): InformerEvent => ({ type: "added", isInitial, new: object });
const updated = (old: Live, object: Live): InformerEvent => ({
  type: "updated",
  isInitial: false,
  old,
  new: object,
});
const deleted = (old: Live): InformerEvent => ({ type: "deleted", isInitial: false, old });

function wired() {
  const fake = new FakePool();
  const enqueued: string[] = [];
  const kept: string[] = [];
  const gone: string[] = [];
  const byLabel = ({ metadata }: Live) => {
    const name = metadata.labels?.["widget"];
    return name === undefined ? [] : [{ name, namespace: "ns", afterMs: 7 }];
  };
  const sources = new SourceSet(
    widgets,
    {
      owns: [configMaps],
      watches: [mappedFrom(parts, byLabel, { reenqueueForMs: 1_000 })],
      reads: [secrets],
      tracks: byLabel,
    },
    fake.pool,
  );
  sources.wire({
    enqueue: (key, priority, afterMs = 0) => enqueued.push(`${key} ${priority} ${afterMs}`),
    reenqueuer: { keep: (key, forMs) => kept.push(`${key} ${forMs}`) },
    onDeleted: ({ metadata }) => gone.push(metadata.name),
  });
  return { fake, sources, enqueued, kept, gone };
}

describe("an event of a kind that the controller makes", () => {
  test.each([
    {
      name: "comes",
      event: added(aLive("ConfigMap", { name: "c", ...ownedBy("a") })),
      want: ["ns/a normal 0"],
    },
    {
      name: "was there at the start",
      event: added(aLive("ConfigMap", { name: "c", ...ownedBy("a") }), true),
      want: ["ns/a low 0"],
    },
    {
      name: "changes",
      event: updated(
        aLive("ConfigMap", { name: "c", ...ownedBy("a") }),
        aLive("ConfigMap", { name: "c", ...ownedBy("a"), labels: { x: "y" } }),
      ),
      want: ["ns/a normal 0", "ns/a normal 0"],
    },
    {
      name: "goes over to another owner: both have to know",
      event: updated(
        aLive("ConfigMap", { name: "c", ...ownedBy("a") }),
        aLive("ConfigMap", { name: "c", ...ownedBy("b") }),
      ),
      want: ["ns/a normal 0", "ns/b normal 0"],
    },
    {
      name: "loses its owner",
      event: updated(aLive("ConfigMap", { name: "c", ...ownedBy("a") }), aLive("ConfigMap", { name: "c" })),
      want: ["ns/a normal 0"],
    },
    {
      name: "goes",
      event: deleted(aLive("ConfigMap", { name: "c", ...ownedBy("a") })),
      want: ["ns/a normal 0"],
    },
    { name: "is another client's", event: added(aLive("ConfigMap", { name: "c" })), want: [] },
  ])("$name", ({ event, want }) => {
    const { fake, enqueued } = wired();
    fake.of("ConfigMap").emit(event);
    expect(enqueued).toEqual(want);
  });
});

describe("an event of a watched kind", () => {
  const [a, b, none] = [
    aLive("Part", { name: "p", ...labelled("a") }),
    aLive("Part", { name: "p", ...labelled("b") }),
    aLive("Part", { name: "p" }),
  ] as const;
  test.each([
    { name: "wakes whom it concerns, after its delay", event: added(a), want: ["a"] },
    { name: "wakes whom it concerned before, too", event: updated(a, b), want: ["a", "b"] },
    { name: "wakes whom it no longer concerns", event: updated(a, none), want: ["a"] },
    { name: "wakes whom it concerns from now on", event: updated(none, b), want: ["b"] },
    { name: "wakes whom it concerned until it went", event: deleted(a), want: ["a"] },
    { name: "wakes nothing that it does not concern", event: deleted(none), want: [] },
  ])("$name", ({ event, want }) => {
    const { fake, enqueued, kept } = wired();
    fake.of("Part").emit(event);
    expect(enqueued).toEqual(want.map((name) => `ns/${name} normal 7`));
    expect(kept).toEqual(want.map((name) => `ns/${name} 1000`));
  });

  test("is repeated for a while only when something happened", () => {
    const { fake, kept, enqueued } = wired();
    fake.of("Part").emit(added(a, true));
    expect([enqueued, kept]).toEqual([["ns/a low 7"], []]);
  });
});

describe("an event of the controller's own kind", () => {
  const before = { name: "a", generation: 1 };
  test.each([
    { name: "a new spec", after: { generation: 2 } },
    { name: "an annotation", after: { annotations: { retry: "now" } } },
    { name: "an annotation that goes", old: { annotations: { retry: "now" } }, after: {} },
    { name: "a label", after: { labels: { a: "b" } } },
    { name: "a finalizer", after: { finalizers: ["f"] } },
    { name: "a deletion", after: { deletionTimestamp: "now" } },
    { name: "another object of its name", after: { uid: "another" } },
  ])("$name brings it back", ({ old = {}, after }) => {
    const { fake, enqueued } = wired();
    fake
      .of("Widget")
      .emit(updated(aLive("Widget", { ...before, ...old }), aLive("Widget", { ...before, ...after })));
    expect(enqueued).toEqual(["ns/a normal 0"]);
  });

  test("its end is reported, and brings it back", () => {
    const { fake, enqueued, gone } = wired();
    fake.of("Widget").emit(deleted(aLive("Widget", before)));
    expect([enqueued, gone]).toEqual([["ns/a normal 0"], ["a"]]);
  });
});

describe("an event of an object that reconciles follow", () => {
  test.each([1, 2, 3, 4])("brings all %i that follow it back, and nothing else", async (count) => {
    const { fake, sources, enqueued } = wired();
    const keys = Array.from({ length: count }, (_, at) => `ns/w${at}`);
    for (const key of [...keys, "ns/other"]) {
      const following = sources.followed.begin(key);
      sources.followed.follow(following, {
        kind: secrets,
        ref: { namespace: "ns", name: key === "ns/other" ? "another" : "s" },
      });
      following.end();
    }
    for (const event of [
      added(aLive("Secret", { name: "s" })),
      updated(aLive("Secret", { name: "s" }), aLive("Secret", { name: "s", labels: { a: "b" } })),
      deleted(aLive("Secret", { name: "s" })),
    ]) {
      enqueued.length = 0;
      fake.of("Secret").emit(event);
      expect(enqueued.toSorted()).toEqual(keys.map((key) => `${key} normal 0`));
    }
    await Promise.resolve();
  });

  test("a tracked object that changes hands wakes both sides", () => {
    const { fake, sources, enqueued } = wired();
    sources.followed.track(sources.followed.begin("ns/a"), { kind: defineOther() });
    fake
      .of("Other")
      .emit(
        updated(
          aLive("Other", { name: "o", ...labelled("a") }),
          aLive("Other", { name: "o", ...labelled("b") }),
        ),
      );
    expect(enqueued).toEqual(["ns/a normal 0", "ns/b normal 0"]);
  });
});

function defineOther() {
  return defineKind({ group: "x", version: "v1", kind: "Other", plural: "others", scope: "Namespaced" });
}

describe("a followed object with a watch of its own", () => {
  function following(limits: { readonly limit?: number; readonly namespaceLimit?: number } = {}) {
    const fake = new FakePool();
    const woken: string[] = [];
    const watches = new FollowedWatches({
      pool: fake.pool,
      limit: 10,
      namespaceLimit: 10,
      ...limits,
      storeOf: () => undefined,
      wake: (key) => woken.push(key),
      onTracked: () => undefined,
    });
    /** One reconcile that follows these Secrets; gives what each follow said. */
    const reconcile = (key: string, ...names: readonly string[]): readonly string[] => {
      const reconciled = watches.begin(key);
      const output = names.map((name) => {
        try {
          const [namespace = "", own = ""] = name.includes("/") ? name.split("/") : ["ns", name];
          const found = watches.follow(reconciled, { kind: secrets, ref: { namespace, name: own } });
          return found === undefined ? "absent" : "found";
        } catch (error) {
          return classify(error);
        }
      });
      reconciled.end();
      return output;
    };
    return { fake, woken, watches, reconcile };
  }

  test("is unknown until the server has answered, and the response wakes all who asked", async () => {
    const { fake, woken, reconcile } = following();
    expect([reconcile("ns/a", "s"), reconcile("ns/b", "s")]).toEqual([["transient"], ["transient"]]);
    await fake.of("Secret").sync();
    expect(new Set(woken)).toEqual(new Set(["ns/a", "ns/b"]));
    expect(reconcile("ns/a", "s")).toEqual(["absent"]);
  });

  test("that may not be watched is no absent one, and the grant wakes all who asked", async () => {
    const { fake, woken, reconcile } = following();
    reconcile("ns/a", "s");
    await fake.of("Secret").forbid();
    expect(reconcile("ns/a", "s")).toEqual(["forbidden"]);
    expect(fake.of("Secret").retries).toBe(1);
    woken.length = 0;
    await fake.of("Secret").sync([aLive("Secret", { name: "s" })]);
    expect(new Set(woken)).toEqual(new Set(["ns/a"]));
    expect(reconcile("ns/a", "s")).toEqual(["found"]);
  });

  test.each([
    { name: "of all objects", limits: { limit: 2 }, names: ["one", "two", "three"] },
    { name: "of a namespace", limits: { namespaceLimit: 2 }, names: ["one", "two", "three"] },
  ])("beyond the limit $name is refused, and woken when a watch is free", ({ limits, names }) => {
    const { woken, reconcile } = following(limits);
    const [one = "", two = "", three = ""] = names;
    reconcile("ns/a", one);
    reconcile("ns/b", two);
    expect(reconcile("ns/c", three)).toEqual(["forbidden"]);
    expect(woken).toEqual([]);
    reconcile("ns/a");
    expect(woken).toEqual(["ns/c"]);
    expect(reconcile("ns/c", three)).toEqual(["transient"]);
  });

  test("of another namespace does not count against the limit of this one", () => {
    const { reconcile } = following({ namespaceLimit: 1 });
    reconcile("ns/a", "one");
    expect(reconcile("ns/b", "elsewhere/one")).toEqual(["transient"]);
  });

  test("shares its watch, which ends with the last who follows it", async () => {
    const { fake, reconcile } = following();
    for (const key of ["ns/a", "ns/b", "ns/c"]) reconcile(key, "s");
    expect(fake.informers).toHaveLength(1);
    for (const key of ["ns/a", "ns/b"]) {
      reconcile(key);
      expect(fake.of("Secret").isOpen).toBe(true);
    }
    reconcile("ns/c");
    await Promise.resolve();
    expect(fake.of("Secret").isOpen).toBe(false);
  });
});
