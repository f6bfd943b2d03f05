import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { annotationWarnings } from "../../src/injection/annotation-warnings.ts";
import { annotations } from "../../src/injection/annotations.ts";

const prefix = "subscription.openshift.io/";
const withKeys = (...keys: readonly string[]): object => ({
  metadata: { annotations: Object.fromEntries(keys.map((key) => [key, "x"])) },
});

test.each([
  { name: "known keys", pod: withKeys(`${prefix}inject-bundle`, "other.example.com/inject"), want: "" },
  {
    name: "a missing hyphen",
    pod: withKeys(`${prefix}inject-clusterbundle`),
    want: `did you mean ${prefix}inject-cluster-bundle?`,
  },
  { name: "capitals", pod: withKeys(`${prefix}injectBundle`), want: `did you mean ${prefix}inject-bundle?` },
  { name: "anything else", pod: withKeys(`${prefix}enable`), want: `known are ${prefix}inject-bundle, ` },
  {
    name: "a key on the workload only",
    pod: {},
    workload: withKeys(`${prefix}inject-bundle`),
    want: "set it on the pod template",
  },
  {
    name: "a key on both",
    pod: withKeys(`${prefix}inject-bundle`),
    workload: withKeys(`${prefix}inject-bundle`),
    want: "",
  },
])("[first-use/14] $name", ({ pod, workload, want }) => {
  const warnings = annotationWarnings(pod, workload);
  expect(warnings).toHaveLength(want === "" ? 0 : 1);
  expect(warnings.join()).toContain(want);
});

test("[first-use/14] the policy knows the same keys", () => {
  const file = join(import.meta.dirname, "../../../../config/policy/subscription-annotations.yaml");
  const list = /\['inject-bundle'[^\]]*\]/.exec(readFileSync(file, "utf8"))?.[0] ?? "";
  const keys = Array.from(list.matchAll(/'([^']+)'/g), ([, key]) => `${prefix}${key ?? ""}`);
  const ours = Object.values(annotations).filter((key) => key.startsWith(prefix));
  expect(keys.toSorted()).toEqual(ours.toSorted());
});
