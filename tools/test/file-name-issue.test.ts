import { expect, test } from "vitest";

import { findFileNameIssue } from "../lint/file-name-issue.ts";

const cases = [
  { name: "a kebab-case file", given: "packages/search/src/quorum-lost.ts", want: /^$/ },
  { name: "a test file", given: "packages/search/test/unit/quorum-lost.test.ts", want: /^$/ },
  { name: "a declaration file", given: "tools/vendor.d.ts", want: /^$/ },
  { name: "a configuration file", given: "vitest.config.ts", want: /^$/ },
  {
    name: "a name that only begins like a catch-all",
    given: "packages/runtime/src/common-name.ts",
    want: /^$/,
  },
  { name: "kinds of licenses", given: "packages/licensing/src/license-types.ts", want: /^$/ },
  { name: "a hidden directory", given: ".tmp/a.ts", want: /^$/ },
  { name: "camel case", given: "packages/search/src/quorumLost.ts", want: /not kebab-case/ },
  { name: "snake case", given: "packages/search/src/quorum_lost.ts", want: /not kebab-case/ },
  { name: "a capital directory", given: "packages/search/src/Lanes/a.ts", want: /not kebab-case/ },
  { name: "utils", given: "packages/search/src/utils.ts", want: /says nothing/ },
  { name: "types", given: "packages/search/src/types.ts", want: /says nothing/ },
  { name: "common", given: "packages/search/src/common.ts", want: /says nothing/ },
  { name: "a helpers directory", given: "packages/search/src/helpers/a.ts", want: /says nothing/ },
  { name: "utils with a prefix", given: "packages/search/src/pod-utils.ts", want: /says nothing/ },
  { name: "test helpers", given: "packages/search/test/unit/test-helpers.ts", want: /says nothing/ },
];

test.each(cases)("judges the name of $name", ({ given, want }) => {
  expect(findFileNameIssue(given) ?? "").toMatch(want);
});
