import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { keyOf, type KubeObject } from "../../src/object/kube-object.ts";
import { byLabel, byNamespace, byOwner, defineIndex } from "../../src/store/index-set.ts";
import { ObjectStore } from "../../src/store/object-store.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

function anObject(name: string, version: number, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "n", resourceVersion: String(version), labels },
  };
}

interface Event {
  readonly type: "upsert" | "remove";
  readonly name: string;
  readonly version: number;
}

/** A history as a server has it: versions only grow, an object exists or not. */
const histories = fc
  .array(fc.record({ name: fc.constantFrom("a", "b", "c"), isRemoval: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((changes) => {
    const alive = new Set<string>();
    const events: Event[] = [];
    changes.forEach(({ name, isRemoval }, at) => {
      if (isRemoval && !alive.has(name)) return;
      if (isRemoval) alive.delete(name);
      else alive.add(name);
      events.push({ type: isRemoval ? "remove" : "upsert", name, version: at + 8 });
    });
    return events;
  });

function give(store: ObjectStore<KubeObject>, { type, name, version }: Event): void {
  const object = anObject(name, version);
  if (type === "upsert") store.upsert(object);
  else store.remove(object);
}

function emptySyncedStore(): ObjectStore<KubeObject> {
  const store = new ObjectStore<KubeObject>({ system: new VirtualSystem(), freeze: true });
  store.beginReplace(false);
  store.endReplace("1");
  return store;
}

function contents(store: ObjectStore<KubeObject>): Readonly<Record<string, string | undefined>> {
  const pairs = store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion] as const);
  return Object.fromEntries(pairs.toSorted(([one], [other]) => one.localeCompare(other)));
}

describe("[runtime/RT-07] the store never goes backwards", () => {
  test("whatever is duplicated, replayed or reordered, the end is that of the true history", () => {
    fc.assert(
      fc.property(
        histories.chain((history) =>
          fc.record({
            history: fc.constant(history),
            replays: fc.array(fc.nat({ max: Math.max(0, history.length - 1) }), { maxLength: 30 }),
            order: fc.shuffledSubarray(
              history.map((_, at) => at),
              { minLength: history.length },
            ),
          }),
        ),
        ({ history, replays, order }) => {
          const truth = emptySyncedStore();
          for (const event of history) give(truth, event);
          const store = emptySyncedStore();
          const highest = new Map<string, number>();
          for (const at of [...order, ...replays]) {
            const event = history[at];
            if (event === undefined) continue;
            give(store, event);
            const held = Number(store.getByKey(`n/${event.name}`)?.metadata.resourceVersion ?? 0);
            const before = highest.get(event.name) ?? 0;
            expect(held === 0 || held >= before).toBe(true);
            highest.set(event.name, Math.max(held, before));
          }
          expect(contents(store)).toEqual(contents(truth));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("own writes, events and bookmarks in any order leave what the watch delivered last, and indexes agree with it", () => {
    const step = fc.record({
      do: fc.constantFrom("upsert", "remove", "write", "bookmark", "relist"),
      name: fc.constantFrom("a", "b", "c"),
      label: fc.constantFrom("x", "y"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (script) => {
        const store = emptySyncedStore();
        const reported = new Map<string, KubeObject>();
        let version = 8;
        for (const { do: what, name, label } of script) {
          version += 1;
          const object = anObject(name, version, { label });
          if (what === "upsert") {
            store.upsert(object);
            reported.set(name, object);
          } else if (what === "remove" && reported.delete(name)) store.remove(object);
          else if (what === "write") store.noteWrite(object);
          else if (what === "relist") {
            store.beginReplace(false);
            for (const known of reported.values()) store.upsert(known);
            store.endReplace(String(version));
          }
          if (what !== "write") store.advance(String(version));
          expect(what === "write" ? store.getByKey(`n/${name}`) : object).toBe(object);
          expect(indexed(store)).toEqual(labelled(store));
        }
        store.advance(String(version + 1));
        expect(contents(store)).toEqual(
          Object.fromEntries(
            [...reported]
              .toSorted(([one], [other]) => one.localeCompare(other))
              .map(([name, { metadata }]) => [name, metadata.resourceVersion]),
          ),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

/** What the index says, and what a look at each object says. */
function indexed(store: ObjectStore<KubeObject>): readonly (readonly string[])[] {
  return ["x", "y"].map((value) => keysOf(store.listBy(byLabel("label"), value)));
}

function labelled(store: ObjectStore<KubeObject>): readonly (readonly string[])[] {
  const withLabel = (value: string): readonly KubeObject[] =>
    store.list().filter(({ metadata }) => metadata.labels?.["label"] === value);
  return ["x", "y"].map((value) => keysOf(withLabel(value)));
}

function keysOf(objects: readonly KubeObject[]): readonly string[] {
  return objects.map(({ metadata }) => keyOf(metadata)).toSorted();
}

describe("ObjectStore", () => {
  test("a new picture reports what is missing from it as deleted, with its last state", () => {
    const store = emptySyncedStore();
    const kept = anObject("kept", 10);
    const lost = anObject("lost", 11);
    store.upsert(kept);
    store.upsert(lost);
    store.beginReplace(false);
    expect(store.upsert(kept)).toBeUndefined();
    expect(store.endReplace("20")).toEqual([{ type: "deleted", old: lost }]);
    expect(store.list()).toEqual([kept]);
  });

  test("a cluster that was restored from a backup is believed, although its versions are older", () => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 100));
    store.beginReplace(true);
    expect(store.upsert(anObject("a", 50))?.type).toBe("updated");
    store.endReplace("60");
    expect(store.version).toBe("60");
    expect(store.upsert(anObject("a", 61))?.type).toBe("updated");
  });

  test("compares versions as numbers of any length", () => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 9));
    expect(store.upsert(anObject("a", 10))?.type).toBe("updated");
    expect(store.upsert(anObject("a", 9))).toBeUndefined();
  });

  test("a kind that is served again shows objects older than its absence", () => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 10));
    expect(store.clear()).toHaveLength(1);
    store.beginReplace(false);
    expect(store.upsert(anObject("a", 10))?.type).toBe("added");
  });

  test("atLeast waits for the version and gives up after its limit", async () => {
    const system = new VirtualSystem();
    const store = new ObjectStore<KubeObject>({ system });
    store.beginReplace(false);
    store.endReplace("10");
    await store.atLeast("10", { timeoutMs: 1 });
    const reached = store.atLeast("12", { timeoutMs: 1_000 });
    store.advance("12");
    await reached;
    const late = store.atLeast("13", { timeoutMs: 1_000 }).catch((error: unknown) => error);
    await system.advance(1_000);
    expect(await late).toMatchObject({ name: "TimeoutError" });
  });

  test.each([
    { name: "an older version than is held changes nothing", version: 9, isThere: true },
    { name: "the version that is held removes it", version: 10, isThere: false },
    { name: "a newer version removes it", version: 11, isThere: false },
  ])("a deletion at $name", ({ version, isThere }) => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 10));
    expect(store.remove(anObject("a", version)) === undefined).toBe(isThere);
    expect(Object.keys(contents(store))).toEqual(isThere ? ["a"] : []);
  });

  test("finds objects by namespace, owner, label and an index of one's own", () => {
    const store = emptySyncedStore();
    const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u-1" };
    const object = {
      ...anObject("a", 10, { app: "web" }),
      metadata: { ...anObject("a", 10, { app: "web" }).metadata, ownerReferences: [owner] },
    };
    store.upsert(object);
    const byLength = defineIndex<KubeObject>("length", ({ metadata }) => [String(metadata.name.length)]);
    expect(store.listBy(byNamespace, "n")).toEqual([object]);
    expect(store.listBy(byOwner, "u-1")).toEqual([object]);
    expect(store.listBy(byLabel("app"), "web")).toEqual([object]);
    expect(store.listBy(byLabel("toString"), "web")).toEqual([]);
    expect(store.listBy(byLength, "1")).toEqual([object]);
    store.remove(anObject("a", 11));
    expect(store.listBy(byOwner, "u-1")).toEqual([]);
  });

  test("a kind that no longer exists takes its deletions along: whatever comes back is new", () => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 10));
    store.remove(anObject("a", 11));
    store.upsert(anObject("b", 12));
    expect(store.upsert(anObject("a", 10))).toBeUndefined();
    expect(store.clear().map(({ type }) => type)).toEqual(["deleted"]);
    expect(store.upsert(anObject("a", 10))).toMatchObject({ type: "added" });
  });

  test("freezes what it keeps", () => {
    const store = emptySyncedStore();
    store.upsert(anObject("a", 10, { app: "web" }));
    const labels = store.getByKey("n/a")?.metadata.labels;
    expect(Object.isFrozen(labels)).toBe(true);
  });
});
