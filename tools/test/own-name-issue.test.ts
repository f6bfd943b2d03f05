import { expect, test } from "vitest";

import { findOwnNameIssue } from "../lint/own-name-issue.ts";

test.each([
  {
    name: "the very name",
    file: "packages/a/src/read-yaml.ts",
    exports: ["YamlReading", "readYaml"],
    isFine: true,
  },
  { name: "a longer name", file: "packages/a/src/inventory.ts", exports: ["inventoryOf"], isFine: true },
  { name: "a plural", file: "packages/a/src/leftovers.ts", exports: ["LeftoverParts"], isFine: true },
  {
    name: "capitals in a row",
    file: "packages/a/src/crd-issues.ts",
    exports: ["findCRDIssue"],
    isFine: true,
  },
  { name: "constants", file: "packages/a/src/pause-image.ts", exports: ["PAUSE_IMAGE"], isFine: true },
  { name: "a program", file: "packages/a/src/guardian.ts", exports: [], isFine: true },
  { name: "a list", file: "packages/a/src/errors.ts", exports: ["ApiError"], isFine: true },
  { name: "kinds", file: "packages/a/src/kinds/core.ts", exports: ["pods"], isFine: true },
  { name: "another name", file: "packages/a/src/job-check.ts", exports: ["askAboutJobs"], isFine: false },
  { name: "half of the name", file: "packages/a/src/plan-report.ts", exports: ["reportOn"], isFine: false },
])("a file with $name is found by a name that it exports: $isFine", ({ file, exports, isFine }) => {
  expect(findOwnNameIssue({ file, exports }) === undefined).toBe(isFine);
});
