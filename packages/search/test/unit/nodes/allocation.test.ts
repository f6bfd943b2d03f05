import { type Arbitrary, assert, boolean, constant, constantFrom, property, record } from "fast-check";
import { describe, expect, test } from "vitest";

import type { EngineSettings } from "../../../src/engine/engine-facts.ts";
import { allocation } from "../../../src/facts/allocation.ts";

const enable = "cluster.routing.allocation.enable";
const exclude = "cluster.routing.allocation.exclude._name";

function put(settings: EngineSettings, changes: Partial<EngineSettings>): EngineSettings {
  const merged = (layer: keyof EngineSettings): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries({ ...settings[layer], ...changes[layer] }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      ),
    );
  return { persistent: merged("persistent"), transient: merged("transient") };
}

const layer = record(
  {
    [enable]: constant("all"),
    [exclude]: constantFrom("theirs", "theirs,others"),
    "cluster.max_shards_per_node": constant("500"),
  },
  { requiredKeys: [] },
);
const settings = record({ persistent: layer, transient: layer }) as Arbitrary<EngineSettings>;

describe("settings of an operation", () => {
  test("[search/SC-68] whatever others have set, frozen and excluded and released again, it is as before, and was effective meanwhile", () => {
    assert(
      property(settings, boolean(), boolean(), (before, freezes, excludes) => {
        let now = before;
        if (freezes) now = put(now, allocation.freeze(now, "op"));
        if (excludes) now = put(now, allocation.exclude(now, "node") ?? {});
        expect(allocation.isFrozenBy(now, "op")).toBe(freezes);
        expect(allocation.excludedNodes(now).includes("node")).toBe(excludes);
        // Entries of others that were effective stay effective.
        for (const name of allocation.excludedNodes(before))
          expect(allocation.excludedNodes(now)).toContain(name);
        expect(allocation.restrictedByOthers(now)).toBeUndefined();
        now = put(now, allocation.release(now) ?? {});
        expect(now).toEqual(before);
        expect(allocation.release(now)).toBeUndefined();
      }),
    );
  });

  test("done twice is done once", () => {
    assert(
      property(settings, (before) => {
        const frozen = put(before, allocation.freeze(before, "op"));
        expect(put(frozen, allocation.freeze(frozen, "op"))).toEqual(frozen);
        const excluded = put(before, allocation.exclude(before, "node") ?? {});
        expect(allocation.exclude(excluded, "node")).toBeUndefined();
      }),
    );
  });

  test.each(["none", "primaries", "new_primaries"])(
    "%s of another client is seen, and never taken for ours",
    (value) => {
      const theirs = { persistent: { [enable]: value }, transient: {} };
      expect(allocation.restrictedByOthers(theirs)).toBe(value);
      expect(allocation.holdsOurs(theirs)).toBe(false);
      expect(allocation.release(theirs)).toBeUndefined();
    },
  );

  test("a node that others have excluded stays excluded when we are done", () => {
    const theirs = { persistent: { [exclude]: "node" }, transient: {} };
    expect(allocation.exclude(theirs, "node")).toBeUndefined();
    expect(allocation.release(theirs)).toBeUndefined();
  });

  test("another client's transient value on top of ours is brought back, and ours goes", () => {
    const frozen = put(
      { persistent: {}, transient: {} },
      allocation.freeze({ persistent: {}, transient: {} }, "op"),
    );
    const shadowed = put(frozen, { transient: { [enable]: "all" } });
    expect(allocation.isFrozenBy(shadowed, "op")).toBe(false);
    const again = put(shadowed, allocation.freeze(shadowed, "op"));
    expect(allocation.isFrozenBy(again, "op")).toBe(true);
    const released = put(again, allocation.release(again) ?? {});
    expect(released.persistent).toEqual({});
    expect(allocation.restrictedByOthers(released)).toBeUndefined();
  });
});
