import { describe, expect, test } from "vitest";

import { authorOf } from "../../../src/account/account.ts";
import { aPlan } from "../../support/plans.ts";

const author = "install.quartermaster.dev/author";
const groups = "install.quartermaster.dev/author-groups";

describe("who made a plan", () => {
  test.each([
    { name: "none is recorded", given: {}, want: undefined },
    { name: "groups without a user count for nothing", given: { [groups]: '["a"]' }, want: undefined },
    { name: "a user without groups", given: { [author]: "u" }, want: { user: "u", groups: [] } },
    {
      name: "each text of the list is one group",
      given: { [author]: "u", [groups]: String.raw`["a","b\nc","d\"e"]` },
      want: { user: "u", groups: ["a", "b\nc", 'd"e'] },
    },
    { name: "an empty list", given: { [author]: "u", [groups]: "[]" }, want: { user: "u", groups: [] } },
    { name: "lines", given: { [author]: "u", [groups]: "a\nb" }, want: "unreadable" },
    { name: "no list", given: { [author]: "u", [groups]: '"a"' }, want: "unreadable" },
    { name: "no texts", given: { [author]: "u", [groups]: '["a",1]' }, want: "unreadable" },
    { name: "nothing", given: { [author]: "u", [groups]: "" }, want: "unreadable" },
    { name: "a bare newline", given: { [author]: "u", [groups]: '["a\nb"]' }, want: "unreadable" },
  ])("$name", ({ given, want }) => {
    expect(authorOf(aPlan("p", { metadata: { annotations: given } }))).toEqual(want);
  });
});
