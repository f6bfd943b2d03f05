import { ApiError } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { refusalText } from "../../src/refusal.ts";

const secret = { apiVersion: "v1", kind: "Secret" };
const configMap = { apiVersion: "v1", kind: "ConfigMap" };
const message = 'apply Secret ns/s: 422 Secret "s" is invalid: data[a]: Invalid value: "hunter2": bad';
const causes = [{ field: "data[a]", reason: "FieldValueInvalid", message: 'Invalid value: "hunter2": bad' }];

function refused(facts: Partial<ConstructorParameters<typeof ApiError>[1]>): ApiError {
  return new ApiError(message, { class: "invalid", mayHaveActed: false, ...facts });
}

describe("what is told of a refusal", () => {
  test.each([
    {
      name: "the server's own words about a ConfigMap",
      given: { error: refused({ causes }), identity: configMap },
      want: 'Secret "s" is invalid: data[a]: Invalid value: "hunter2": bad',
    },
    {
      name: "fields and reasons about a Secret",
      given: { error: refused({ causes }), identity: secret },
      want: "data[a]: FieldValueInvalid",
    },
    {
      name: "the reason about a Secret where no field is named",
      given: { error: refused({ reason: "Forbidden" }), identity: secret },
      want: "Forbidden",
    },
    {
      name: "the class about a Secret where nothing else is known",
      given: { error: refused({ class: "transient" }), identity: secret },
      want: "transient",
    },
  ])("$name", ({ given, want }) => {
    expect(refusalText(given.error, given.identity)).toBe(want);
  });
});
