import { definedFields } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { type Identity, identityKey } from "../../../src/model/identity.ts";
import type { Member } from "../../../src/model/member.ts";
import { boundRoles, escalations, type RoleRef, unreadable } from "../../../src/permissions/escalation.ts";
import {
  describePermission,
  neededPermissions,
  type Permission,
} from "../../../src/permissions/permission.ts";
import {
  parsePolicyRules,
  type PolicyRule,
  uncoveredPermissions,
} from "../../../src/permissions/policy-rule.ts";
import {
  missingPermissions,
  type RulesReviews,
  wholeCluster,
} from "../../../src/permissions/rules-review.ts";

function aMember(identity: Identity, content: object = {}): Member {
  const { apiVersion, kind, ...metadata } = identity;
  return {
    stage: "s",
    stageIndex: 0,
    index: 0,
    identity,
    key: identityKey(identity),
    manifest: { apiVersion, kind, metadata: definedFields(metadata), ...content },
    digest: "",
    lifecycle: {
      revert: "Owned",
      recreate: true,
      cleanup: "Delete",
      adoption: "Never",
      onImmutable: "Fail",
      disallowedManagers: [],
      protectData: true,
    },
    readiness: { mode: "Default" },
  };
}

/** `get,patch configmaps` or `get roles.rbac.authorization.k8s.io a,b` or `get /metrics`. */
function rule(text: string): PolicyRule {
  const [verbs = "", object = "", names] = text.split(" ");
  const isPath = object.startsWith("/");
  const [resources = "", ...group] = object.split(".");
  const [parsed] =
    parsePolicyRules([
      isPath
        ? { verbs: verbs.split(","), nonResourceURLs: [object === "/**" ? "*" : object] }
        : {
            verbs: verbs.split(","),
            apiGroups: [group.join(".")],
            resources: resources.split(","),
            resourceNames: names?.split(","),
          },
    ]) ?? [];
  if (parsed === undefined) throw new Error("no rule");
  return parsed;
}

const reviewsOf = (
  locations: Readonly<Record<string, readonly string[]>>,
  isIncomplete = false,
): RulesReviews =>
  new Map(
    Object.entries(locations).map(([location, rules]) => [
      location,
      { rules: rules.map(rule), isIncomplete },
    ]),
  );
const rbac = "rbac.authorization.k8s.io";

describe("neededPermissions", () => {
  const configMap = (name: string): Member =>
    aMember({ apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name });
  const role = aMember({ apiVersion: `${rbac}/v1`, kind: "ClusterRole", name: "r" });
  const pluralOf = ({ identity }: Member): string | undefined =>
    new Map([
      ["ConfigMap", "configmaps"],
      ["ClusterRole", "clusterroles"],
    ]).get(identity.kind);

  const cases = [
    {
      name: "requests create, get and patch by name: an apply tells the server the name",
      given: neededPermissions([configMap("b"), configMap("a")], { pluralOf, needsDelete: () => false }),
      want: [
        "create configmaps a in shop",
        "create configmaps b in shop",
        "get configmaps a in shop",
        "get configmaps b in shop",
        "patch configmaps a in shop",
        "patch configmaps b in shop",
      ],
    },
    {
      name: "requests delete where it may be needed",
      given: neededPermissions([configMap("a"), role], {
        pluralOf,
        needsDelete: ({ identity }) => identity.kind === "ClusterRole",
      }),
      want: [
        `create clusterroles.${rbac} r`,
        `delete clusterroles.${rbac} r`,
        `get clusterroles.${rbac} r`,
        `patch clusterroles.${rbac} r`,
        "create configmaps a in shop",
        "get configmaps a in shop",
        "patch configmaps a in shop",
      ],
    },
    {
      name: "requests jobs in the plan's namespace",
      given: neededPermissions([], { pluralOf, needsDelete: () => true, jobsNamespace: "shop" }),
      want: ["create jobs.batch in shop", "delete jobs.batch in shop", "get jobs.batch in shop"],
    },
    {
      name: "adds further permissions, each once",
      given: neededPermissions([configMap("a")], {
        pluralOf,
        needsDelete: () => false,
        further: [
          { verb: "get", group: "", resource: "configmaps", namespace: "shop", name: "a" },
          { verb: "delete", group: "", resource: "pods", namespace: "x" },
        ],
      }),
      want: [
        "create configmaps a in shop",
        "get configmaps a in shop",
        "patch configmaps a in shop",
        "delete pods in x",
      ],
    },
    {
      name: "asks nothing for a kind without a plural",
      given: neededPermissions([aMember({ apiVersion: "x/v1", kind: "X", name: "x" })], {
        pluralOf,
        needsDelete: () => true,
      }),
      want: [],
    },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    expect(given.map(describePermission)).toEqual(want);
  });
});

describe("missingPermissions", () => {
  const create: Permission = { verb: "create", group: "apps", resource: "deployments", namespace: "shop" };
  const get = (name: string): Permission => ({
    verb: "get",
    group: "apps",
    resource: "deployments",
    namespace: "shop",
    name,
  });
  const scale: Permission = {
    verb: "patch",
    group: "apps",
    resource: "deployments/scale",
    namespace: "shop",
    name: "a",
  };
  const role: Permission = { verb: "get", group: rbac, resource: "clusterroles", name: "r" };
  const nothing = { missing: [], doubtful: [] };
  const cases = [
    {
      name: "a permission that is listed",
      needed: [create, get("a")],
      reviews: reviewsOf({ shop: ["create,get deployments.apps"] }),
      want: nothing,
    },
    {
      name: "wildcards",
      needed: [create, scale, get("a")],
      reviews: reviewsOf({ shop: ["* *.*"] }),
      want: nothing,
    },
    {
      name: "another group",
      needed: [create],
      reviews: reviewsOf({ shop: ["* deployments.extensions"] }),
      want: { missing: [create], doubtful: [] },
    },
    {
      name: "another namespace",
      needed: [create],
      reviews: reviewsOf({ shop: [], other: ["* *.*"] }),
      want: { missing: [create], doubtful: [] },
    },
    {
      name: "a name that is listed beside one that is not",
      needed: [get("a"), get("b")],
      reviews: reviewsOf({ shop: ["get deployments.apps a"] }),
      want: { missing: [get("b")], doubtful: [] },
    },
    {
      name: "create of any name, which a rule with names does not give",
      needed: [create],
      reviews: reviewsOf({ shop: ["create deployments.apps a"] }),
      want: { missing: [create], doubtful: [] },
    },
    {
      name: "many names of a kind that is not allowed at all, once",
      needed: [get("a"), get("b"), get("c")],
      reviews: reviewsOf({ shop: ["get pods"] }),
      want: {
        missing: [{ verb: "get", group: "apps", resource: "deployments", namespace: "shop" }],
        doubtful: [],
      },
    },
    {
      name: "a subresource that is not the resource",
      needed: [scale],
      reviews: reviewsOf({ shop: ["patch deployments.apps"] }),
      want: {
        missing: [{ verb: "patch", group: "apps", resource: "deployments/scale", namespace: "shop" }],
        doubtful: [],
      },
    },
    {
      name: "a subresource of any resource",
      needed: [scale],
      reviews: reviewsOf({ shop: ["patch */scale.apps"] }),
      want: nothing,
    },
    {
      name: "what an incomplete review does not list, as doubtful",
      needed: [create, get("a")],
      reviews: reviewsOf({ shop: ["create deployments.apps"] }, true),
      want: { missing: [], doubtful: [get("a")] },
    },
    {
      name: "what was not reviewed, as doubtful",
      needed: [create],
      reviews: reviewsOf({}),
      want: { missing: [], doubtful: [create] },
    },
    {
      name: "a cluster-wide permission that only a namespace gives",
      needed: [role],
      reviews: reviewsOf({ shop: [`get clusterroles.${rbac}`], [wholeCluster]: [] }),
      want: { missing: [{ verb: "get", group: rbac, resource: "clusterroles" }], doubtful: [] },
    },
    {
      name: "a cluster-wide permission",
      needed: [role],
      reviews: reviewsOf({ [wholeCluster]: [`get clusterroles.${rbac}`] }),
      want: nothing,
    },
  ];
  test.for(cases)("knows $name", ({ needed, reviews, want }) => {
    expect(missingPermissions(needed, reviews)).toEqual(want);
  });

  test("judges 15,000 permissions by 200 rules in time", () => {
    const needed = Array.from({ length: 5_000 }, (_, index) => get(`d-${index}`)).flatMap((permission) =>
      ["get", "patch", "delete"].map((verb) => ({ ...permission, verb })),
    );
    const rules = Array.from({ length: 200 }, (_, index) => `get,list things${index}.example.com`);
    const start = performance.now();
    expect(missingPermissions(needed, reviewsOf({ shop: [...rules, "* deployments.apps"] }))).toEqual(
      nothing,
    );
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe("uncoveredPermissions", () => {
  const cases = [
    { name: "nothing beyond itself", wanted: ["get,list pods"], held: ["get,list pods"], want: [] },
    {
      name: "a rule covered by several",
      wanted: ["get,list pods,services"],
      held: ["get pods", "list pods", "* services"],
      want: [],
    },
    { name: "a verb", wanted: ["get,delete pods"], held: ["get pods"], want: ["delete pods"] },
    { name: "a group", wanted: ["get pods.x"], held: ["get pods"], want: ["get pods.x"] },
    { name: "all names where one is held", wanted: ["get pods"], held: ["get pods a"], want: ["get pods"] },
    { name: "one name of two", wanted: ["get pods a,b"], held: ["get pods a"], want: ["get pods b"] },
    { name: "a name where all are held", wanted: ["get pods a"], held: ["get pods"], want: [] },
    {
      name: "a wildcard verb where single ones are held",
      wanted: ["* pods"],
      held: ["get,list,watch,create,update,patch,delete pods"],
      want: ["* pods"],
    },
    { name: "a wildcard resource", wanted: ["get *"], held: ["get pods"], want: ["get *"] },
    { name: "everything, held by an administrator", wanted: ["* *.*"], held: ["* *.*"], want: [] },
    { name: "a subresource", wanted: ["get pods/log"], held: ["get pods"], want: ["get pods/log"] },
    { name: "a subresource held for all", wanted: ["get pods/log"], held: ["get */log"], want: [] },
    { name: "a path", wanted: ["get /metrics"], held: ["get /healthz"], want: ["get /metrics"] },
    { name: "a path below a held one", wanted: ["get /apis/x"], held: ["get /apis/*"], want: [] },
    { name: "all paths", wanted: ["get /**"], held: ["get /apis/*"], want: ["get /*"] },
    {
      name: "a path that a resource rule does not cover",
      wanted: ["get /metrics"],
      held: ["* *.*"],
      want: ["get /metrics"],
    },
  ];
  test.for(cases)("finds $name", ({ wanted, held, want }) => {
    expect(uncoveredPermissions(wanted.map(rule), held.map(rule)).map(describePermission)).toEqual(want);
  });
});

describe("escalations", () => {
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }];
  const role = aMember({ apiVersion: `${rbac}/v1`, kind: "Role", namespace: "shop", name: "r" }, { rules });
  const clusterRole = aMember({ apiVersion: `${rbac}/v1`, kind: "ClusterRole", name: "r" }, { rules });
  const aggregated = aMember(
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", name: "all" },
    { aggregationRule: {}, rules: [] },
  );
  const binding = (kind: string, name: string): Member =>
    aMember(
      { apiVersion: `${rbac}/v1`, kind: "RoleBinding", namespace: "shop", name: "b" },
      { roleRef: { apiGroup: rbac, kind, name } },
    );
  const clusterBinding = aMember(
    { apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", name: "b" },
    { roleRef: { kind: "ClusterRole", name: "cluster-admin" } },
  );
  const roleRules = ({ kind, name }: RoleRef): unknown => {
    if (name === "hidden") return unreadable;
    return kind === "ClusterRole" && name === "cluster-admin"
      ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]
      : undefined;
  };
  const cases = [
    { name: "a Role with held rules", members: [role], locations: { shop: ["get secrets"] }, want: [] },
    {
      name: "a Role with rules held cluster-wide only: the server lists those in each namespace",
      members: [role],
      locations: { shop: [], [wholeCluster]: ["get secrets"] },
      want: ["get secrets in shop"],
    },
    {
      name: "a Role with rules that are not held",
      members: [role],
      locations: { shop: ["list secrets"] },
      want: ["get secrets in shop"],
    },
    {
      name: "a Role under escalate",
      members: [role],
      locations: { shop: [`escalate roles.${rbac}`] },
      want: [],
    },
    {
      name: "a Role under escalate of another name",
      members: [role],
      locations: { shop: [`escalate roles.${rbac} other`] },
      want: ["get secrets in shop"],
    },
    {
      name: "a ClusterRole with rules held in a namespace only",
      members: [clusterRole],
      locations: { shop: ["get secrets"], [wholeCluster]: [] },
      want: ["get secrets"],
    },
    {
      name: "a ClusterRole with rules held",
      members: [clusterRole],
      locations: { [wholeCluster]: ["get secrets"] },
      want: [],
    },
    {
      name: "a role that collects the rules of others",
      members: [aggregated],
      locations: { [wholeCluster]: ["get secrets"] },
      want: ["* /*", "* *.*"],
    },
    {
      name: "a binding to a role of the plan that is not held",
      members: [role, binding("Role", "r")],
      locations: { shop: [`escalate roles.${rbac}`] },
      want: ["get secrets in shop"],
    },
    {
      name: "a binding to it under bind",
      members: [binding("Role", "r"), role],
      locations: { shop: [`escalate,bind roles.${rbac} r`] },
      want: [],
    },
    {
      name: "a RoleBinding to a ClusterRole whose rules are held in the namespace",
      members: [clusterRole, binding("ClusterRole", "r")],
      locations: { shop: ["get secrets"], [wholeCluster]: [`escalate clusterroles.${rbac}`] },
      want: [],
    },
    {
      name: "a binding to cluster-admin",
      members: [clusterBinding],
      locations: { [wholeCluster]: ["get secrets", "create clusterrolebindings.rbac.authorization.k8s.io"] },
      want: ["* *.*"],
    },
    {
      name: "a binding to a role that is nowhere",
      members: [binding("Role", "gone")],
      locations: { shop: ["* secrets"] },
      want: [`bind roles.${rbac} gone in shop`],
    },
    {
      name: "a binding to a role that the account may not read: the server's dry run decides",
      members: [binding("Role", "hidden")],
      locations: { shop: [] },
      want: [],
    },
    {
      name: "kinds of other groups",
      members: [
        aMember({ apiVersion: "example.com/v1", kind: "Role", namespace: "shop", name: "r" }, { rules }),
      ],
      locations: { shop: [] },
      want: [],
    },
  ];
  test.for(cases)("judges $name", ({ members, locations, want }) => {
    const found = escalations(members, {
      reviews: reviewsOf(locations),
      roleRules,
    });
    expect(found.flatMap(({ lacking }) => lacking).map(describePermission)).toEqual(want);
  });

  test("names the roles to look up: those that bindings point to and the plan does not bring", () => {
    expect(
      boundRoles([
        role,
        binding("Role", "r"),
        binding("Role", "x"),
        binding("ClusterRole", "r"),
        clusterBinding,
        clusterBinding,
      ]),
    ).toEqual([
      { kind: "Role", namespace: "shop", name: "x" },
      { kind: "ClusterRole", name: "r" },
      { kind: "ClusterRole", name: "cluster-admin" },
    ]);
  });
});
