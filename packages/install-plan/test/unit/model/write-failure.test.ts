import { ApiError } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { refusalText } from "../../../src/model/write-failure.ts";

describe("what is reported of a refusal", () => {
  test.each([
    {
      name: "the server's words without the request",
      given: 'apply ConfigMap ns/c: 422 ConfigMap "c" is invalid: data[a]: bad',
      want: 'ConfigMap "c" is invalid: data[a]: bad',
    },
    { name: "a text of another form as it is", given: "connection refused", want: "connection refused" },
  ])("$name", ({ given, want }) => {
    expect(refusalText(new ApiError(given, { class: "invalid", mayHaveActed: false }))).toBe(want);
  });
});
