import { describe, expect, test } from "vitest";

import { isGuarded } from "../../../src/confirmation/confirmation.ts";

const name = "quartermaster-installplan-confirmations";
const policy = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name },
  spec: { failurePolicy: "Fail" },
};

function bound(spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "any", ...metadata },
    spec: { policyName: name, validationActions: ["Deny"], ...spec },
  };
}

function selecting(matchLabels: object, more: object = {}): object {
  return { matchResources: { matchPolicy: "Equivalent", namespaceSelector: { matchLabels, ...more } } };
}

const byName = "kubernetes.io/metadata.name";

describe("a confirmation counts only where a policy guards it", () => {
  test.each([
    { name: "policy and binding", policies: [policy], bindings: [bound()], want: true },
    { name: "no policy", policies: [], bindings: [bound()], want: false },
    { name: "no binding", policies: [policy], bindings: [], want: false },
    {
      name: "a policy that lets pass what it cannot judge",
      policies: [{ ...policy, spec: { failurePolicy: "Ignore" } }],
      bindings: [bound()],
      want: false,
    },
    {
      name: "a binding that only warns",
      policies: [policy],
      bindings: [bound({ validationActions: ["Warn", "Audit"] })],
      want: false,
    },
    {
      name: "a binding of another policy",
      policies: [policy],
      bindings: [bound({ policyName: "other" })],
      want: false,
    },
    {
      name: "a binding for this namespace",
      policies: [policy],
      bindings: [bound(selecting({ [byName]: "ns" }))],
      want: true,
    },
    {
      name: "a binding for another namespace",
      policies: [policy],
      bindings: [bound(selecting({ [byName]: "other" }))],
      want: false,
    },
    {
      name: "a binding by a label that others may set",
      policies: [policy],
      bindings: [bound(selecting({ team: "a" }))],
      want: false,
    },
    {
      name: "a binding with expressions",
      policies: [policy],
      bindings: [bound(selecting({ [byName]: "ns" }, { matchExpressions: [] }))],
      want: false,
    },
    {
      name: "a binding for some objects",
      policies: [policy],
      bindings: [bound({ matchResources: { objectSelector: { matchLabels: { a: "b" } } } })],
      want: false,
    },
    {
      name: "a binding for some operations",
      policies: [policy],
      bindings: [bound({ matchResources: { resourceRules: [{ operations: ["CREATE"] }] } })],
      want: false,
    },
    {
      name: "a binding with selectors that select all",
      policies: [policy],
      bindings: [
        bound({ matchResources: { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} } }),
      ],
      want: true,
    },
    {
      name: "a binding with parameters",
      policies: [policy],
      bindings: [bound({ paramRef: { name: "x" } })],
      want: false,
    },
  ])("$name: $want", ({ policies, bindings, want }) => {
    expect(isGuarded({ namespace: "ns", name: "p" }, policies, bindings)).toBe(want);
  });
});
