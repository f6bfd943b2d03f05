import { describe, expect, test } from "vitest";

import { blockerOf } from "../../../src/deletion/deletion-turn.ts";
import { inventoryOf } from "../../../src/inventory/inventory.ts";
import { identityKey } from "../../../src/model/identity.ts";
import { aPlan } from "../../support/plans.ts";

const sha256 = "a".repeat(64);
const nothing = { members: [], issues: [], unresolved: [], warnings: [], digest: "", provided: new Map() };

/** A reference to a manifest that no longer exists: all that is known of its object is what the author wrote. */
function lost(object: { readonly name: string; readonly namespace?: string; readonly kind?: string }) {
  return {
    manifestRef: {
      name: `m-${object.name}`,
      sha256,
      object: { apiVersion: "v1", kind: "ConfigMap", ...object },
    },
  };
}

describe("objects whose manifests no longer exist", () => {
  test.each([
    { name: "of the plan's own namespace", scope: "Namespace", namespace: "ns", isIn: true },
    { name: "of another namespace", scope: "Namespace", namespace: "kube-system", isIn: false },
    {
      name: "of another namespace, of a plan that may leave its own",
      scope: "Cluster",
      namespace: "kube-system",
      isIn: true,
    },
    { name: "of no namespace", scope: "Namespace", namespace: undefined, isIn: true },
  ])("$name are looked for: $isIn", ({ scope, namespace, isIn }) => {
    const object = namespace === undefined ? { name: "c" } : { name: "c", namespace };
    const plan = aPlan("p", { spec: { scope, stages: [{ name: "s", resources: [lost(object)] }] } });
    expect(inventoryOf(plan, nothing, new Map()).map(({ identity }) => identity.name)).toEqual(
      isIn ? ["c"] : [],
    );
  });

  test.each([1, 2, 3, 4])("of %i in two stages come in the order of the plan", (count) => {
    const names = ["a", "b", "c", "d"].slice(0, count);
    const stages = [
      { name: "first", resources: names.slice(0, 2).map((name) => lost({ name })) },
      { name: "second", resources: names.slice(2).map((name) => lost({ name })) },
    ];
    const entries = inventoryOf(aPlan("p", { spec: { stages } }), nothing, new Map());
    expect(entries.map(({ identity }) => identity.name)).toEqual(names);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(count);
    expect(entries.map(({ key, identity }) => key === identityKey(identity))).toEqual(names.map(() => true));
  });
});

describe("what holds an object that is being deleted", () => {
  const since = "2026-01-01T00:00:00Z";
  const going = (kind: string, metadata: object, spec: object = {}) => ({
    kind: {} as never,
    live: {
      apiVersion: "v1",
      kind,
      metadata: { name: "x", deletionTimestamp: since, ...metadata },
      spec,
    } as never,
  });

  test.each([
    {
      name: "nothing that is not being deleted",
      given: going("ConfigMap", { deletionTimestamp: undefined, finalizers: ["a"] }),
      want: [],
    },
    { name: "nothing without finalizers", given: going("ConfigMap", {}), want: [] },
    { name: "each finalizer", given: going("ConfigMap", { finalizers: ["a", "b"] }), want: ["a", "b"] },
    {
      name: "those in the spec of a namespace",
      given: going("Namespace", {}, { finalizers: ["kubernetes"] }),
      want: ["kubernetes"],
    },
    {
      name: "both of a namespace",
      given: going("Namespace", { finalizers: ["a"] }, { finalizers: ["kubernetes"] }),
      want: ["a", "kubernetes"],
    },
    {
      name: "no field of that name in another kind",
      given: going("ConfigMap", { finalizers: ["a"] }, { finalizers: ["b"] }),
      want: ["a"],
    },
  ])("$name", ({ given, want }) => {
    expect(blockerOf(given).flatMap(({ finalizers }) => finalizers)).toEqual(want);
  });
});
