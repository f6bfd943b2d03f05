import { expect, test } from "vitest";

import { renewalMs } from "../../src/certificates/rotation.ts";

const dayMs = 86_400_000;

test.each([
  { name: "after two thirds of its time at the latest", random: 0, want: 60 * dayMs },
  { name: "up to a twentieth of its time earlier", random: 1, want: 55.5 * dayMs },
  { name: "somewhere between", random: 0.5, want: 57.75 * dayMs },
])("what holds for 90 days is renewed $name, from whenever it holds", ({ random, want }) => {
  for (const startMs of [0, 1_000 * dayMs]) {
    expect(renewalMs(startMs, startMs + 90 * dayMs, random)).toBeCloseTo(startMs + want, -1);
  }
});
