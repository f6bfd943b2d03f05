import { ApiError, type InvalidCause } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { describeCauses } from "../../../src/model/describe-causes.ts";
import { immutableRemedy } from "../../../src/preflight/dry-run.ts";
import { aView } from "../../support/seen.ts";

function refused(...causes: readonly InvalidCause[]): ApiError {
  return new ApiError("apply: 422 all of it", { class: "invalid", causes, mayHaveActed: false });
}

const large = JSON.stringify({
  matchLabels: Object.fromEntries(Array.from("abcdefghij", (k) => [k, "v".repeat(100)])),
});

describe("faults in words", () => {
  test.each([
    {
      name: "a number where text is expected",
      given: [{ field: "data.count", reason: "SchemaMismatch", message: "expected string" }],
      want: "data.count: must be a string; put the value in quotes",
    },
    {
      name: "[first-use/15] text where a number is expected",
      given: [
        { field: "spec.replicas", reason: "SchemaMismatch", message: "expected numeric (int or float)" },
      ],
      want: "spec.replicas: must be a number, in digits and without quotes",
    },
    {
      name: "a field that does not exist",
      given: [{ field: "dota", reason: "SchemaMismatch", message: "field not declared in schema" }],
      want: "dota: is not a field of this kind; check spelling and indentation",
    },
    {
      name: "an immutable field, without its value",
      given: [
        {
          field: "spec.selector",
          reason: "FieldValueInvalid",
          message: `Invalid value: ${large}: field is immutable`,
        },
      ],
      want: "spec.selector: field is immutable",
    },
    {
      name: "the spec of a StatefulSet, with the fields that can be changed",
      given: [
        {
          field: "spec",
          reason: "FieldValueForbidden",
          message: "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
        },
      ],
      want: "spec: updates to statefulset spec for fields other than 'replicas' are forbidden",
    },
    {
      name: "the spec of a Pod, without the difference",
      given: [
        {
          field: "spec",
          reason: "FieldValueForbidden",
          message:
            "Forbidden: pod updates may not change fields other than `spec.tolerations`\n  core.PodSpec{\n \tA: 1",
        },
      ],
      want: "spec: pod updates may not change fields other than `spec.tolerations`",
    },
    {
      name: "immutable fields before others",
      given: [
        {
          field: "spec.ports[0].port",
          reason: "FieldValueInvalid",
          message: "Invalid value: 99999: too high",
        },
        {
          field: "spec.clusterIPs[0]",
          reason: "FieldValueInvalid",
          message: 'Invalid value: ["x"]: may not change once set',
        },
      ],
      want: "spec.clusterIPs[0]: may not change once set; spec.ports[0].port: Invalid value: 99999: too high",
    },
    {
      name: "a long value with both ends",
      given: [
        { field: "spec.x", reason: "FieldValueInvalid", message: `Invalid value: ${large}: must be even` },
      ],
      want: expect.stringMatching(/^spec\.x: Invalid value: .{50,70} … .{140,160}: must be even$/) as string,
    },
    {
      name: "a fault of a Secret by its reason",
      given: [{ field: "data[a]", reason: "FieldValueInvalid", message: "" }],
      want: "data[a]: FieldValueInvalid",
    },
    {
      name: "a number in a Secret, of which only the field is known",
      given: [{ field: "data", reason: "SchemaMismatch", message: "" }],
      want: "data: has the wrong type or is not a field of this kind; put values in quotes",
    },
    {
      name: "an unknown field of a Secret, which has no name",
      given: [{ field: "", reason: "SchemaMismatch", message: "" }],
      want: "one of its fields: has the wrong type or is not a field of this kind; put values in quotes",
    },
    {
      name: "nothing where a fault has no field, as of a policy",
      given: [{ field: "", reason: "", message: "no bad things on Mondays" }],
      want: undefined,
    },
    { name: "nothing where none is listed", given: [], want: undefined },
  ])("$name", ({ given, want }) => {
    expect(describeCauses(refused(...given))).toEqual(want);
  });
});

describe("the remedy for an immutable field", () => {
  const { member } = aView("c");
  test.each([
    {
      kind: "Deployment",
      onImmutable: "Fail",
      protectData: true,
      want: /set lifecycle\.onImmutable: Recreate to/,
    },
    {
      kind: "PersistentVolumeClaim",
      onImmutable: "Fail",
      protectData: true,
      want: /onImmutable: Recreate and protectData: false/,
    },
    { kind: "PersistentVolumeClaim", onImmutable: "Recreate", protectData: true, want: /loses its data/ },
    {
      kind: "Deployment",
      onImmutable: "Recreate",
      protectData: true,
      want: /would reject the new object too/,
    },
  ] as const)("$kind, $onImmutable, protectData $protectData", ({ kind, want, ...policy }) => {
    const lifecycle = { ...member.lifecycle, ...policy };
    expect(immutableRemedy({ identity: { ...member.identity, kind }, lifecycle })).toMatch(want);
  });
});
