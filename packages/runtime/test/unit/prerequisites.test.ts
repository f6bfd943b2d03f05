import { describe, expect, test } from "vitest";

import { GatedElector } from "../../src/prerequisites/gated-elector.ts";
import { type PrerequisiteSource, prerequisiteState } from "../../src/prerequisites/prerequisites.ts";
import type { ReadStore } from "../../src/store/object-store.ts";
import { realSystem } from "../../src/system/real-system.ts";

const store = { size: 0 } as ReadStore;
const synced: PrerequisiteSource = { kind: "Crd", isForbidden: false, store };
const filling: PrerequisiteSource = { ...synced, store: undefined };
const forbidden: PrerequisiteSource = { ...filling, kind: "Policy", isForbidden: true };

describe("whether controllers may act", () => {
  test.each([
    { name: "the first lists are not complete", given: [synced, filling], problems: [], want: "unknown" },
    { name: "nothing is wrong", given: [synced, synced], problems: [], want: "met" },
    { name: "something is wrong", given: [synced], problems: ["old"], want: "unmet" },
    { name: "a kind may not be watched", given: [synced, forbidden], problems: [], want: "unmet" },
    { name: "nothing is watched", given: [], problems: [], want: "met" },
  ] as const)("$name: $want", ({ given, problems, want }) => {
    expect(prerequisiteState(given, () => problems).kind).toBe(want);
  });

  test("a kind that may not be watched is named", () => {
    const state = prerequisiteState([forbidden], () => []);
    expect(state).toMatchObject({ problems: [expect.stringContaining("list and watch Policy") as string] });
  });
});

test("an elector whose prerequisites are not known yet lets no write pass", () => {
  const gate = new GatedElector({
    prerequisites: { requests: [], problemsIn: () => [] },
    system: realSystem(),
    informers: () => {
      throw new Error("not asked before the election");
    },
  });
  expect({ budget: gate.writeBudgetMs(), isMet: gate.isMet }).toEqual({ budget: 0, isMet: false });
});
