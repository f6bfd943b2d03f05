import { describe, expect, test } from "vitest";

import { collisionRecheckMs } from "../../../src/preflight/colliding.ts";

describe("when a plan looks again at what is in its way", () => {
  test.each([
    { name: "nothing is in its way", given: undefined, want: 600_000 },
    { name: "a watch shows it", given: { isFollowed: true, elapsedMs: 0 }, want: 600_000 },
    { name: "no watch shows it, at first", given: { isFollowed: false, elapsedMs: 0 }, want: 2_000 },
    { name: "after a minute", given: { isFollowed: false, elapsedMs: 60_000 }, want: 30_000 },
    { name: "after a day", given: { isFollowed: false, elapsedMs: 86_400_000 }, want: 600_000 },
  ])("$name: after $want ms", ({ given, want }) => {
    expect(collisionRecheckMs(given, 600_000)).toBe(want);
  });
});
