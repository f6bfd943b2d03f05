import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../../../config/rbac");

test("the rights per namespace are given to the account that the operator has", () => {
  const accounts = readFileSync(join(folder, "account.yaml"), "utf8");
  const [, name = "", namespace = ""] =
    /kind: ServiceAccount\nmetadata:\n {2}name: (\S+)\n {2}namespace: (\S+)/.exec(accounts) ?? [];
  const limited = readFileSync(join(folder, "impersonation-limited.yaml"), "utf8");
  expect(limited).toMatch(new RegExp(`--serviceaccount ${namespace}:${name}$`, "m"));
});

test("the operator may write nothing but what it writes: our kinds, events, reviews and its lease", () => {
  const rules = readFileSync(join(folder, "operator.yaml"), "utf8").split("  - apiGroups: ").slice(1);
  const told = rules.map((rule) => {
    const [, resources = "", verbs = ""] = /resources: \[(.*)\]\n +verbs: \[(.*)\]/.exec(rule) ?? [];
    return `${resources}: ${verbs}`;
  });
  expect(told).toEqual([
    '"*": get, list, watch',
    "serviceaccounts: impersonate",
    "installplans, installplans/status, resourcemanifests, resourcemanifests/status: patch",
    "installplans: delete",
    "installplans/finalizers: update",
    "subjectaccessreviews: create",
    "events: create, patch",
    "leases: get, create, update",
  ]);
});
