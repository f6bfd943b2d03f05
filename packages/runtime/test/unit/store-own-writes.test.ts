import { describe, expect, test } from "vitest";

import { ObjectStore } from "../../src/store/object-store.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import type { ConfigMap } from "../support/kinds.ts";

function at(resourceVersion: string, name = "a"): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns", resourceVersion } };
}

/** Has seen everything up to version 5: `a`, in that version. */
function aStore(): ObjectStore<ConfigMap> {
  const store = new ObjectStore<ConfigMap>({ system: new VirtualSystem() });
  store.beginReplace(false);
  store.upsert(at("5"));
  store.endReplace("5");
  return store;
}

function versionIn(store: ObjectStore<ConfigMap>, name = "a"): string | undefined {
  return store.get({ name, namespace: "ns" })?.metadata.resourceVersion;
}

describe("a write of ours", () => {
  test("is seen immediately", () => {
    const store = aStore();
    store.noteWrite(at("7"));
    expect(versionIn(store)).toBe("7");
  });

  test("is not hidden by an event from before it", () => {
    const store = aStore();
    store.noteWrite(at("7"));
    store.upsert(at("6"));
    expect(versionIn(store)).toBe("7");
  });

  test("gives way to an event from after it", () => {
    const store = aStore();
    store.noteWrite(at("7"));
    store.upsert(at("8"));
    expect(versionIn(store)).toBe("8");
  });

  test("is not undone by a deletion from before it", () => {
    const store = aStore();
    store.noteWrite(at("7"));
    store.remove(at("6"));
    expect(versionIn(store)).toBe("7");
  });

  test("gives way to what the watch delivered once the watch is past it", () => {
    const store = aStore();
    store.noteWrite(at("7", "b"));
    store.advance("6");
    expect(versionIn(store, "b")).toBe("7");
    store.advance("7");
    expect(versionIn(store, "b")).toBeUndefined();
  });

  test("counts no more when the watch is past it already: it delivered the object, or never will", () => {
    const store = aStore();
    store.advance("9");
    store.noteWrite(at("7", "b"));
    expect(versionIn(store, "b")).toBeUndefined();
  });
});
