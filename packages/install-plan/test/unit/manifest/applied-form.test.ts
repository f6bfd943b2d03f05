import { describe, expect, test } from "vitest";

import { appliedForm } from "../../../src/manifest/applied-form.ts";

function secret(fields: object): Readonly<Record<string, unknown>> {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, ...fields };
}

describe("the data of a Secret", () => {
  test.each([
    { name: "base64", given: { data: { a: "aGk=" } }, want: [] },
    { name: "base64 over several lines", given: { data: { a: "aG\nk=\n" } }, want: [] },
    { name: "nothing", given: { data: { a: null } }, want: [] },
    { name: "other text", given: { data: { a: "hi!" } }, want: ['data["a"] must be base64'] },
    { name: "base64 without padding", given: { data: { a: "aGk" } }, want: ['data["a"] must be base64'] },
    { name: "a number", given: { data: { a: 1 } }, want: ['data["a"] must be base64'] },
    { name: "a list", given: { data: [] }, want: ["data must be an object"] },
    {
      name: "a number for text",
      given: { stringData: { a: 1 } },
      want: ['stringData["a"] must be a string'],
    },
  ])("$name", ({ given, want }) => {
    const { problems } = appliedForm(secret(given), "ns");
    expect(problems.map(({ field, message }) => `${field} ${message}`)).toEqual(want);
  });
});
