import { describe, expect, test } from "vitest";

import { directoryCycles } from "../directories/directory-cycles.ts";

const cases = [
  {
    name: "directories that import one way are fine",
    given: [
      { path: "apply/apply-member.ts", imports: ["../drift/drift.ts", "../seen.ts", "./write-order.ts"] },
      { path: "drift/drift.ts", imports: ["../ownership/ownership.ts"] },
      { path: "ownership/ownership.ts", imports: [] },
    ],
    want: [],
  },
  {
    name: "two directories that import each other are named with both imports",
    given: [
      { path: "apply/apply-member.ts", imports: ["../drift/drift.ts"] },
      { path: "drift/steady.ts", imports: ["../apply/write-order.ts"] },
    ],
    want: [
      "apply/ and drift/ import each other in a circle: apply/apply-member.ts imports drift/drift.ts",
      "drift/ and apply/ import each other in a circle: drift/steady.ts imports apply/write-order.ts",
    ],
  },
  {
    name: "a circle over three directories is found, and what only leads to it is not blamed",
    given: [
      { path: "a/a.ts", imports: ["../b/b.ts"] },
      { path: "b/b.ts", imports: ["../c/c.ts"] },
      { path: "c/c.ts", imports: ["../a/a.ts"] },
      { path: "d/d.ts", imports: ["../a/a.ts"] },
    ],
    want: [
      "a/ and b/ import each other in a circle: a/a.ts imports b/b.ts",
      "b/ and c/ import each other in a circle: b/b.ts imports c/c.ts",
      "c/ and a/ import each other in a circle: c/c.ts imports a/a.ts",
    ],
  },
  {
    name: "files beside the directories compose them and may import all of them",
    given: [
      { path: "seen.ts", imports: ["./drift/drift.ts"] },
      { path: "drift/drift.ts", imports: ["../seen.ts"] },
    ],
    want: [],
  },
  {
    name: "directories within a directory belong to it",
    given: [
      { path: "api/v1/kind.ts", imports: ["../v2/kind.ts"] },
      { path: "api/v2/kind.ts", imports: ["../v1/kind.ts"] },
    ],
    want: [],
  },
];

describe("directories of a package", () => {
  test.each(cases)("$name", ({ given, want }) => {
    expect(directoryCycles(given)).toEqual(want);
  });
});
