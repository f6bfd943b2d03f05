import { describe, expect, test } from "vitest";

import { driverAccess, webhookAccess } from "../../src/object-access/object-access.ts";
import { type OwnedAccess, planAccess } from "../../src/object-access/perform-access.ts";

const account = { name: "hook", namespace: "home" };
const secret = (namespace: string, name: string) => ({ kind: "Secret", namespace, name }) as const;
const owned = (namespace: string, name: string): OwnedAccess => ({
  namespace,
  name,
  uid: "u",
  resourceVersion: "1",
});

describe("Roles for our other accounts", () => {
  test.each([
    { kind: "Secret", resource: "secrets" },
    { kind: "ConfigMap", resource: "configmaps" },
  ] as const)("a Share of a $kind lets the driver get and watch that one object", ({ kind, resource }) => {
    const { role, binding } = driverAccess("s", { kind, name: "one", namespace: "home" });
    expect(role.rules).toEqual([
      { apiGroups: [""], resources: [resource], resourceNames: ["one"], verbs: ["get", "watch"] },
    ]);
    expect([role.metadata.namespace, binding.metadata.namespace]).toEqual(["home", "home"]);
    expect(binding.roleRef?.name).toBe(role.metadata.name);
  });

  test("the webhook gets one Role for each namespace, with each object once and none without names", () => {
    const objects = [secret("a", "2"), secret("a", "1"), secret("a", "1"), secret("b", "3")];
    const accesses = webhookAccess({ kind: "ClusterBundle", name: "cb" }, objects, account);
    expect(accesses.map(({ role }) => [role.metadata.namespace, role.metadata.name])).toEqual([
      ["a", "clusterbundle-cb-webhook"],
      ["b", "clusterbundle-cb-webhook"],
    ]);
    expect(accesses.flatMap(({ role }) => role.rules ?? [])).toEqual([
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["1", "2"], verbs: ["get", "watch"] },
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["3"], verbs: ["get", "watch"] },
    ]);
    expect(webhookAccess({ kind: "Bundle", name: "b" }, objects, undefined)).toEqual([]);
  });

  test.each([1, 2, 3, 4])(
    "objects of one name in %i namespaces, and of both kinds, are all named",
    (count) => {
      const namespaces = ["a", "b", "c", "d"].slice(0, count);
      const objects = namespaces.flatMap((namespace) =>
        (["Secret", "ConfigMap"] as const).map((kind) => ({ kind, namespace, name: "one" })),
      );
      const accesses = webhookAccess({ kind: "Bundle", name: "b" }, objects, account);
      expect(accesses.map(({ role }) => role.metadata.namespace)).toEqual(namespaces);
      for (const { role } of accesses)
        expect((role.rules ?? []).map(({ resources, resourceNames }) => [resources, resourceNames])).toEqual([
          [["secrets"], ["one"]],
          [["configmaps"], ["one"]],
        ]);
    },
  );

  test("permissions that are no longer declared go, bindings first; those that stay are not deleted", () => {
    const wanted = [driverAccess("s", secret("ns", "one"))];
    const stale = owned("other", "s-share-driver");
    const kept = owned("ns", "s-share-driver");
    const actions = planAccess(wanted, { Role: [stale, kept], RoleBinding: [stale, kept] });
    expect(
      actions.map((each) =>
        each.kind === "deleteAccess" ? `delete ${each.of} ${each.object.namespace}` : each.kind,
      ),
    ).toEqual(["delete RoleBinding other", "delete Role other", "applyAccess"]);
  });
});
