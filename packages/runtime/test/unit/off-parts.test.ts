import { describe, expect, test } from "vitest";

import { offParts } from "../../src/manager/off-parts.ts";

const search = { name: "search", grantedBy: "config/search.yaml" };
const controllers = [
  { name: "clusters", domain: search },
  { name: "others", domain: search },
  { name: "plans", domain: { name: "plans" } },
  { name: "lonely" },
];
const report = (
  name: string,
  ...forbidden: readonly string[]
): { name: string; forbidden: readonly string[] } => ({
  name,
  forbidden,
});

describe("parts of an operator that are off", () => {
  test.each([
    { name: "none", reports: [report("clusters"), report("plans")], want: [] },
    {
      name: "a domain, once for all its controllers and kinds",
      reports: [report("clusters", "B.x", "A.x"), report("others", "A.x"), report("plans")],
      want: [
        {
          name: "search",
          message: "off, because the operator may not list and watch A.x, B.x; apply config/search.yaml",
        },
      ],
    },
    {
      name: "a domain that does not say what grants its permissions, and a controller outside of all domains",
      reports: [report("plans", "A.x"), report("lonely", "C.x")],
      want: [
        {
          name: "plans",
          message: "off, because the operator may not list and watch A.x; grant the permissions",
        },
        {
          name: "lonely",
          message: "off, because the operator may not list and watch C.x; grant the permissions",
        },
      ],
    },
  ])("[first-use/8] $name", ({ reports, want }) => {
    expect(offParts(controllers, reports)).toEqual(want);
  });
});
