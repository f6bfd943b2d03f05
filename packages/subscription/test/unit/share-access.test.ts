import { expect, test } from "vitest";

import { desiredAccess } from "../../src/share-access/share-access-controller.ts";

test.each([
  { kind: "Secret", resource: "secrets" },
  { kind: "ConfigMap", resource: "configmaps" },
] as const)("a Share of a $kind lets the driver get and watch that one object", ({ kind, resource }) => {
  const backingResource = { kind, apiVersion: "v1", name: "one", namespace: "home" } as const;
  const { role, binding } = desiredAccess({ metadata: { name: "s" }, spec: { backingResource } });
  expect(role.rules).toEqual([
    { apiGroups: [""], resources: [resource], resourceNames: ["one"], verbs: ["get", "watch"] },
  ]);
  expect([role.metadata.namespace, binding.metadata.namespace]).toEqual(["home", "home"]);
  expect(binding.roleRef?.name).toBe(role.metadata.name);
});

test("a Share with a long name has a label that the API server takes", () => {
  const backingResource = { kind: "Secret", apiVersion: "v1", name: "one", namespace: "home" } as const;
  const name = `${"a".repeat(60)}--.${"b".repeat(20)}`;
  const { role } = desiredAccess({ metadata: { name }, spec: { backingResource } });
  expect(Object.values(role.metadata.labels ?? {})).toEqual(["a".repeat(60)]);
});
