import { describe, expect, test } from "vitest";

import { type GrantedMember, leastPermissions, leastRoles } from "../../../src/permissions/least-roles.ts";
import { permissionsBeyond } from "../../../src/permissions/permissions-beyond.ts";
import type { PolicyRule } from "../../../src/permissions/policy-rule.ts";
import { aPlan } from "../../support/plans.ts";

const plan = aPlan("shop", { spec: { serviceAccountName: "installer" } });
const home = plan.metadata.namespace ?? "";
const kept = { cleanup: "Orphan", onImmutable: "Fail" } as const;

function aMember(
  kind: string,
  name: string,
  {
    lifecycle = kept,
    ...more
  }: { readonly lifecycle?: GrantedMember["lifecycle"] } & Readonly<Record<string, unknown>> = {},
): GrantedMember {
  const [apiVersion, plural] = {
    ConfigMap: ["v1", "configmaps"],
    Role: ["rbac.authorization.k8s.io/v1", "roles"],
    RoleBinding: ["rbac.authorization.k8s.io/v1", "rolebindings"],
    Namespace: ["v1", "namespaces"],
    Widget: ["example.com/v1", undefined],
  }[kind] ?? ["", undefined];
  const namespace = kind === "Namespace" ? {} : { namespace: home };
  const manifest = { apiVersion: apiVersion ?? "", kind, metadata: { ...namespace, name }, ...more };
  return {
    manifest,
    identity: { apiVersion: apiVersion ?? "", kind, ...namespace, name },
    lifecycle,
    plural,
  };
}

function rules(members: readonly GrantedMember[], of = plan): readonly unknown[] {
  return leastRoles(of, leastPermissions(of, members))
    .filter(({ kind }) => kind === "Role" || kind === "ClusterRole")
    .map((role) => [role.kind, role.metadata.name, (role as { rules?: unknown }).rules]);
}

const writing = ["create", "get", "patch"];
const configMaps = { apiGroups: [""], resources: ["configmaps"] };

describe("the least roles of a plan", () => {
  test("[install-plan/134] name every object, with delete only where clean-up may need it", () => {
    const deleted = { cleanup: "Delete", onImmutable: "Fail" } as const;
    expect(
      rules([
        aMember("ConfigMap", "b"),
        aMember("ConfigMap", "a"),
        aMember("ConfigMap", "c", { lifecycle: deleted }),
      ]),
    ).toEqual([
      [
        "Role",
        "shop-installer",
        [
          { ...configMaps, resourceNames: ["a", "b", "c"], verbs: writing },
          { ...configMaps, resourceNames: ["c"], verbs: ["delete"] },
        ],
      ],
    ]);
  });

  test("are bound to the plan's service account, in each namespace and for the cluster", () => {
    const objects = leastRoles(
      plan,
      leastPermissions(plan, [aMember("ConfigMap", "a"), aMember("Namespace", "n")]),
    );
    expect(objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name])).toEqual([
      ["ClusterRole", undefined, `${home}-shop-installer`],
      ["ClusterRoleBinding", undefined, `${home}-shop-installer`],
      ["Role", home, "shop-installer"],
      ["RoleBinding", home, "shop-installer"],
    ]);
    expect(objects[1]).toMatchObject({
      subjects: [{ kind: "ServiceAccount", namespace: home, name: "installer" }],
    });
  });

  test("hold what the plan's own roles grant, and bind roles of others by name", () => {
    const role = aMember("Role", "r", {
      rules: [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] }],
    });
    const own = aMember("RoleBinding", "own", { roleRef: { kind: "Role", name: "r" } });
    const foreign = aMember("RoleBinding", "foreign", { roleRef: { kind: "ClusterRole", name: "view" } });
    const [[, , found]] = rules([role, own, foreign]) as readonly [
      readonly [string, string, readonly object[]],
    ];
    expect(found).toContainEqual({ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] });
    expect(found).toContainEqual({
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterroles"],
      resourceNames: ["view"],
      verbs: ["bind"],
    });
  });

  test("leave out kinds that are not served", () => {
    expect(rules([aMember("Widget", "w")])).toEqual([]);
  });

  test("of a plan that replaces another may delete, and of one with jobs may run them", () => {
    const replacing = aPlan("shop", {
      spec: {
        replaces: { plans: [{ name: "before" }] },
        stages: [{ name: "s", jobs: [{ name: "j", template: {} }] }],
      },
    });
    const [[, , found]] = rules([aMember("ConfigMap", "a")], replacing) as readonly [
      readonly [string, string, readonly object[]],
    ];
    expect(found).toEqual([
      { ...configMaps, resourceNames: ["a"], verbs: ["create", "delete", "get", "patch"] },
      { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "delete", "get"] },
    ]);
  });
});

describe("permissions beyond the least", () => {
  const needed = leastPermissions(plan, [aMember("ConfigMap", "a")]);
  const rule = (more: Partial<PolicyRule>): PolicyRule => ({
    apiGroups: [""],
    resources: ["configmaps"],
    verbs: ["get"],
    resourceNames: [],
    nonResourceURLs: [],
    ...more,
  });
  test.each([
    { name: "the needed name", rules: [rule({ resourceNames: ["a"] })], want: 0 },
    { name: "another name", rules: [rule({ resourceNames: ["b"] })], want: 1 },
    { name: "all names", rules: [rule({})], want: 1 },
    { name: "another verb", rules: [rule({ resourceNames: ["a"], verbs: ["get", "list"] })], want: 1 },
    { name: "everything", rules: [rule({ apiGroups: ["*"], resources: ["*"], verbs: ["*"] })], want: 1 },
    {
      name: "reviews of itself",
      rules: [rule({ apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectaccessreviews"] })],
      want: 0,
    },
    { name: "paths of every user", rules: [rule({ nonResourceURLs: ["/healthz"] })], want: 0 },
  ])("$name: $want", ({ rules: own, want }) => {
    expect(permissionsBeyond(own, needed, home)).toHaveLength(want);
  });
});
