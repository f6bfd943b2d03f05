import { describe, expect, test } from "vitest";

import { compareDottedVersions } from "../../src/dotted-versions.ts";

describe("compareVersions", () => {
  const cases = [
    { given: ["v1.9.0", "v1.10.0"], want: -1 },
    { given: ["go1.26.8", "1.26.0"], want: 1 },
    { given: ["go1.26", "1.26.0"], want: 0 },
    { given: ["go1.26rc1", "1.26.0"], want: 0 },
    { given: ["go1.19.8", "1.26.0"], want: -1 },
  ] as const;
  test.each(cases)("orders $given by number", ({ given, want }) => {
    expect(Math.sign(compareDottedVersions(given[0], given[1]))).toBe(want);
  });
});
