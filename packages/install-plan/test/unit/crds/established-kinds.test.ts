import type { KubeObject } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { establishedKinds } from "../../../src/crds/established-kinds.ts";

const established = { type: "Established", status: "True" };
const accepted = { type: "NamesAccepted", status: "True" };

function crd({ generation = 1, conditions = [established, accepted] } = {}): KubeObject {
  const manifest = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com", generation },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [
        { name: "v1", served: true, subresources: { status: {} } },
        { name: "v2", served: true },
        { name: "v0", served: false },
      ],
    },
    status: { conditions },
  };
  return manifest;
}

test.each([
  { name: "an established one: every version that is served", given: crd(), serves: ["v1 status", "v2"] },
  { name: "one that is not yet", given: crd({ conditions: [accepted] }), serves: [] },
  {
    name: "one that is no longer",
    given: crd({ conditions: [{ ...established, status: "False" }, accepted] }),
    serves: [],
  },
  { name: "one that was changed", given: crd({ generation: 2 }), serves: [] },
])("$name", ({ given, serves }) => {
  const kinds = establishedKinds(given);
  expect(kinds.map(({ kind, hasStatus }) => `${kind.version}${hasStatus ? " status" : ""}`)).toEqual(serves);
  expect(kinds.every(({ kind }) => kind.plural === "widgets" && kind.group === "example.com")).toBe(true);
});
