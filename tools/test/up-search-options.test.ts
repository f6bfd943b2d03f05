import { describe, expect, test } from "vitest";

import { withoutWith } from "../up/search-options.ts";

describe("the words of make up", () => {
  test.each([
    { words: ["--name", "a"], want: { asked: [], rest: ["--name", "a"] } },
    { words: ["--with", "search", "--name", "a"], want: { asked: ["search"], rest: ["--name", "a"] } },
    { words: ["--name", "a", "--with=search"], want: { asked: ["search"], rest: ["--name", "a"] } },
    { words: ["--with", "search,monitoring"], want: { asked: ["search", "monitoring"], rest: [] } },
  ])("$words", ({ words, want }) => {
    expect(withoutWith(words)).toEqual(want);
  });

  test("what there is not is refused", () => {
    expect(() => withoutWith(["--with", "kafka"])).toThrow(
      "--with kafka: there is only search, elasticsearch, monitoring",
    );
    expect(() => withoutWith(["--with", "monitoring"])).toThrow("say also which cluster is monitored");
  });
});
