import { expect, test } from "vitest";

import { ApiError, classify, ConfigError } from "../../src/errors.ts";

const rows = [
  {
    name: "an ApiError says it itself",
    given: new ApiError("x", { class: "gone", mayHaveActed: false }),
    want: "gone",
  },
  { name: "an abort", given: new DOMException("x", "AbortError"), want: "aborted" },
  { name: "a time limit", given: new DOMException("x", "TimeoutError"), want: "timeout" },
  { name: "our own fault", given: new TypeError("x"), want: "bug" },
  { name: "something thrown that is no error", given: "x", want: "bug" },
];

test.each(rows)("$name", ({ given, want }) => {
  expect(classify(given)).toBe(want);
});

test("a configuration error names file and field", () => {
  const error = new ConfigError("not base64", {
    code: "configInvalid",
    file: "f.yaml",
    field: "users[0].user.token",
  });
  expect([error.message, error.code]).toEqual(["f.yaml: users[0].user.token: not base64", "configInvalid"]);
});
