import { describe, expect, test } from "vitest";

import { withoutWith } from "../up/search-options.ts";

describe("the words of make up", () => {
  test.each([
    { args: ["--name", "a"], want: { requested: [], rest: ["--name", "a"] } },
    { args: ["--with", "search", "--name", "a"], want: { requested: ["search"], rest: ["--name", "a"] } },
    { args: ["--name", "a", "--with=search"], want: { requested: ["search"], rest: ["--name", "a"] } },
    { args: ["--with", "search,monitoring"], want: { requested: ["search", "monitoring"], rest: [] } },
  ])("$words", ({ args, want }) => {
    expect(withoutWith(args)).toEqual(want);
  });

  test("what there is not is refused", () => {
    expect(() => withoutWith(["--with", "kafka"])).toThrow(
      "--with kafka: there is only search, elasticsearch, monitoring",
    );
    expect(() => withoutWith(["--with", "monitoring"])).toThrow("say also which cluster is monitored");
  });
});
