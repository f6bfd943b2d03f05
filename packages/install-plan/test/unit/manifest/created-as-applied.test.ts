import type { KubeObject } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { isCreatedAsApplied } from "../../../src/manifest/provided-kinds.ts";

const twice = [{ rule: "self > 0" }, { rule: "self > 0" }];
const once = [{ rule: "self > 0" }, { rule: "self < 9" }];

function crd(rules: unknown): object {
  const schema = { properties: { spec: { "x-kubernetes-validations": rules } } };
  const versions = [{ name: "v1", schema }, { name: "v2" }];
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", spec: { versions } };
}

test.each([
  { name: "no list", object: { kind: "ConfigMap", data: { a: "b" } }, is: true },
  { name: "a list of one", object: { kind: "Secret", x: { y: ["a"] } }, is: true },
  { name: "a list of two, deep down", object: { kind: "Pod", x: [{ y: ["a", "b"] }] }, is: false },
  { name: "a definition whose rules differ", object: crd(once), is: true },
  { name: "a definition that says a rule twice", object: crd(twice), is: false },
  { name: "a definition whose rules are no list", object: crd("none"), is: true },
])("$name: $is", ({ object, is }) => {
  const manifest = { apiVersion: "v1", metadata: { name: "x" }, ...object };
  expect(isCreatedAsApplied(manifest as unknown as KubeObject)).toBe(is);
});
