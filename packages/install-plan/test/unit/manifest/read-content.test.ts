import type { InstallPlan } from "@quartermaster/api";
import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { Content } from "../../../src/manifest/content.ts";
import { readContent } from "../../../src/manifest/read-content.ts";
import { aPlan, clusterPlanOf, cm, crd, namespace, planOf, sources, tell, widget } from "./sample-plan.ts";

describe("readContent finds no fault with", () => {
  const cases = [
    { name: "a plain object", given: planOf([cm("a")]) },
    { name: "a name of 253 characters without a dot", given: planOf([cm("a".repeat(253))]) },
    {
      name: "fields that generators leave empty",
      given: planOf([
        cm(
          "a",
          { status: {} },
          { creationTimestamp: null, ownerReferences: [], finalizers: null, resourceVersion: "" },
        ),
      ]),
    },
    { name: "the plan's own namespace written out", given: planOf([cm("a", {}, { namespace: "shop" })]) },
    {
      name: "another namespace that is there, in scope Cluster",
      given: clusterPlanOf([cm("a", {}, { namespace: "other" })]),
    },
    {
      name: "a namespace that comes last in the same stage",
      given: clusterPlanOf([cm("a", {}, { namespace: "new" }), namespace("new")]),
    },
    { name: "a CRD that comes after its object in the same stage", given: clusterPlanOf([widget(), crd()]) },
    {
      name: "roles with colons in their names",
      given: clusterPlanOf([
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: "system:Node:x" },
          rules: [],
        },
      ]),
    },
    {
      name: "labels called constructor and __proto__",
      given: planOf([cm("a", {}, { labels: JSON.parse('{"constructor":"x","__proto__":"y"}') as object })]),
    },
    {
      name: "objects of one name in two groups",
      given: planOf([cm("a"), { ...cm("a"), apiVersion: "apps/v1", kind: "Deployment" }]),
    },
  ];
  test.for(cases)("$name", ({ given }) => {
    expect(readContent(given, sources).issues).toEqual([]);
  });
});

describe("readContent refuses", () => {
  const invalid = (field: string, index = 0): string => `InvalidManifest s0[${index}] ${field}`;
  const cases: readonly {
    readonly name: string;
    readonly given: InstallPlan;
    readonly want: readonly string[];
  }[] = [
    {
      name: "what the server fills in",
      given: planOf([
        cm("a", {}, { uid: "1", resourceVersion: "2", managedFields: [{}], deletionTimestamp: "x" }),
      ]),
      want: ["uid", "resourceVersion", "managedFields", "deletionTimestamp"].map((field) =>
        invalid(`metadata.${field}`),
      ),
    },
    {
      name: "owners and finalizers",
      given: planOf([cm("a", {}, { ownerReferences: [{}], finalizers: ["x.io/y"] })]),
      want: [invalid("metadata.ownerReferences"), invalid("metadata.finalizers")],
    },
    {
      name: "generated names",
      given: planOf([cm("a", {}, { generateName: "a-" })]),
      want: [invalid("metadata.generateName")],
    },
    {
      name: "our own marks",
      given: planOf([
        cm(
          "a",
          {},
          {
            labels: { "install.quartermaster.dev/plan-id": "x" },
            annotations: { "install.quartermaster.dev/owner": "x" },
          },
        ),
      ]),
      want: [
        invalid('metadata.labels["install.quartermaster.dev/plan-id"]'),
        invalid('metadata.annotations["install.quartermaster.dev/owner"]'),
      ],
    },
    {
      name: "an object without anything",
      given: planOf([{}]),
      want: [invalid("apiVersion"), invalid("kind"), invalid("metadata")],
    },
    {
      name: "metadata that is a list",
      given: planOf([{ apiVersion: "v1", kind: "ConfigMap", metadata: [] }]),
      want: [invalid("metadata")],
    },
    {
      name: "an apiVersion with a path in it",
      given: planOf([{ ...cm("a"), apiVersion: "apps/v1/../x" }]),
      want: [invalid("apiVersion")],
    },
    {
      name: "a namespace with a path in it",
      given: planOf([cm("a", {}, { namespace: "../kube-system" })]),
      want: [invalid("metadata.namespace")],
    },
    {
      name: "a cluster-wide kind in scope Namespace",
      given: planOf([namespace("x")]),
      want: [invalid("kind")],
    },
    {
      name: "another namespace in scope Namespace",
      given: planOf([cm("a", {}, { namespace: "other" })]),
      want: [invalid("metadata.namespace")],
    },
    {
      name: "copies that differ, on each",
      given: planOf([cm("a"), cm("b"), cm("a", { data: { k: "v" } })]),
      want: [invalid("-"), invalid("-", 2)],
    },
    {
      name: "one object in two versions",
      given: planOf([
        { ...cm("a"), apiVersion: "apps/v1", kind: "Deployment" },
        { ...cm("a"), apiVersion: "apps/v1beta1", kind: "Deployment" },
      ]),
      want: [invalid("-"), invalid("-", 1)],
    },
    { name: "a kind that no one serves", given: planOf([widget()]), want: ["KindMissing s0[0] kind"] },
    {
      name: "a version that the plan's CRD does not serve",
      given: clusterPlanOf([crd(), widget("example.com/v0")]),
      want: ["KindMissing s0[1] kind"],
    },
    {
      name: "an object before the stage of its CRD",
      given: clusterPlanOf([widget()], [crd()]),
      want: ["KindMissing s0[0] kind"],
    },
    {
      name: "a namespace that is not there",
      given: clusterPlanOf([cm("a", {}, { namespace: "new" })]),
      want: ["NamespaceMissing s0[0] metadata.namespace"],
    },
    {
      name: "an object before the stage of its namespace",
      given: clusterPlanOf([cm("a", {}, { namespace: "new" })], [namespace("new")]),
      want: ["NamespaceMissing s0[0] metadata.namespace"],
    },
    {
      name: "lists in lists without end",
      given: planOf([
        [1, 2, 3, 4, 5].reduce<object>(
          (item) => ({ apiVersion: "v1", kind: "List", items: [item] }),
          cm("a"),
        ),
      ]),
      want: [invalid("-")],
    },
    {
      name: "text where a Secret has data",
      given: planOf([{ ...cm("a"), kind: "Secret", stringData: { k: 5, ok: "x" } }]),
      want: [invalid('stringData["k"]')],
    },
    {
      name: "everything that is wrong together",
      given: planOf([cm("A/b"), cm("ok"), cm("x", {}, { uid: "1" })], [widget()]),
      want: [invalid("metadata.name"), invalid("metadata.uid", 2), "KindMissing s1[0] kind"],
    },
  ];
  test.for(cases)("$name", ({ given, want }) => {
    expect(tell(readContent(given, sources))).toEqual(want);
  });

  const badNames = [
    "a/b",
    "a%2f..%2fb",
    "..",
    ".",
    "",
    "A",
    "a b",
    "a\nb",
    "ä",
    "a".repeat(254),
    5,
    null,
    "a_b",
    "-a",
  ];
  test.for(badNames.map((name) => ({ name })))("the name $name", ({ name }) => {
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name } };
    expect(tell(readContent(planOf([cm(name)]), sources))).toEqual([invalid("metadata.name")]);
    const isPathSafe = typeof name === "string" && ["A", "a_b", "-a", "a b", "ä"].includes(name);
    expect(tell(readContent(clusterPlanOf([role]), sources))).toEqual(
      isPathSafe ? [] : [invalid("metadata.name")],
    );
  });
});

describe("readContent makes members", () => {
  const membersOf = (plan: InstallPlan): Content["members"] => readContent(plan, sources).members;

  test("in the plan's order, in the plan's namespace unless they say otherwise", () => {
    const plan = clusterPlanOf(
      [cm("b"), cm("a", {}, { namespace: "other" })],
      [namespace("n"), crd(), widget()],
    );
    expect(membersOf(plan).map(({ stage, index, key }) => `${stage}[${index}] ${key}`)).toEqual([
      "s0[0] /ConfigMap/shop/b",
      "s0[1] /ConfigMap/other/a",
      "s1[0] /Namespace//n",
      "s1[1] apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com",
      "s1[2] example.com/Widget/shop/w",
    ]);
  });

  test("without a namespace where the plan's CRD says so", () => {
    const { members, warnings } = readContent(
      clusterPlanOf([crd("Cluster"), { ...widget(), metadata: { name: "w", namespace: "other" } }]),
      sources,
    );
    expect(members[1]?.manifest.metadata).toEqual({ name: "w" });
    expect(warnings).toEqual(["Widget w: metadata.namespace is not applied and was dropped"]);
  });

  test("without status, and says so", () => {
    const { members, warnings } = readContent(
      planOf([cm("a", { status: { x: 1 }, data: { k: "v" } })]),
      sources,
    );
    expect(members[0]?.manifest).toEqual(cm("a", { data: { k: "v" } }, { namespace: "shop" }));
    expect(warnings).toEqual(["ConfigMap shop/a: status is not applied and was dropped"]);
  });

  test("of Secrets with stringData as data, strange keys included", () => {
    const stringData = JSON.parse('{"__proto__":"p","b":"new"}') as object;
    const [member] = membersOf(
      planOf([{ ...cm("a"), kind: "Secret", data: { a: "QQ==", b: "b2xk" }, stringData }]),
    );
    expect(JSON.stringify(Reflect.get(member?.manifest ?? {}, "data"))).toBe(
      '{"a":"QQ==","b":"bmV3","__proto__":"cA=="}',
    );
    expect(member?.manifest).not.toHaveProperty("stringData");
  });

  test("once of identical copies, with a warning", () => {
    const { members, warnings, issues } = readContent(
      planOf([cm("a"), cm("a", {}, { namespace: "shop" })], [cm("a")]),
      sources,
    );
    expect(members.map(({ stage, index }) => [stage, index])).toEqual([["s0", 0]]);
    expect(warnings).toEqual(["ConfigMap shop/a: 2 identical copies were dropped"]);
    expect(issues).toEqual([]);
  });

  test("of every item of a list", () => {
    const items = Array.from({ length: 33 }, (_, index) => ({ metadata: { name: `c${index}` } }));
    const members = membersOf(planOf([{ apiVersion: "v1", kind: "ConfigMapList", metadata: {}, items }]));
    expect(members).toHaveLength(33);
    expect(new Set(members.map(({ index }) => index))).toEqual(new Set([0]));
  });

  test("with the plan's lifecycle under their own", () => {
    const plan = aPlan(
      [
        {
          resources: [
            { manifest: cm("a"), lifecycle: { revert: "Off" }, readiness: { mode: "Ignore" } },
            { manifest: cm("b") },
          ],
        },
      ],
      { lifecycle: { cleanup: "Orphan" } },
    );
    expect(
      membersOf(plan).map(({ lifecycle, readiness }) => [
        lifecycle.revert,
        lifecycle.cleanup,
        readiness.mode,
      ]),
    ).toEqual([
      ["Off", "Orphan", "Ignore"],
      ["Owned", "Orphan", "Default"],
    ]);
  });

  test("verbatim where keys are hostile, and changes no prototype", () => {
    const data = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    ) as object;
    const [member] = membersOf(planOf([cm("a", { data })]));
    expect(JSON.stringify(Reflect.get(member?.manifest ?? {}, "data"))).toBe(JSON.stringify(data));
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("fast enough: 5,000 in one reconcile", () => {
    const stages = Array.from({ length: 10 }, (_, stage) =>
      Array.from({ length: 500 }, (_unused, index) =>
        cm(
          `c-${stage}-${index}`,
          { data: { a: "x".repeat(200), b: "y" } },
          { labels: { app: "x", part: "y" } },
        ),
      ),
    );
    const plan = planOf(...stages);
    expect(readContent(plan, sources).members).toHaveLength(5_000);
    expect(cpuMs(() => readContent(plan, sources))).toBeLessThan(600);
  });

  test("not more than 5,000", () => {
    const items = Array.from({ length: 2_501 }, (_, index) => cm(`c${index}`));
    const other = Array.from({ length: 2_500 }, (_, index) => cm(`d${index}`));
    const plan = planOf([
      { apiVersion: "v1", kind: "List", items },
      { apiVersion: "v1", kind: "List", items: other },
    ]);
    expect(readContent(plan, sources).issues.map(({ message }) => message)).toEqual([
      "the plan has 5001 objects; the limit is 5000, split it into several plans",
    ]);
  });
});

test("no message quotes a Secret's values", () => {
  const canary = "hunter2";
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a", uid: canary, labels: [canary] },
    stringData: { k: [canary] },
    data: canary,
  };
  const { issues, warnings } = readContent(
    planOf([
      secret,
      { ...secret, metadata: { name: "b" }, status: canary },
      { ...secret, metadata: { name: "b" } },
    ]),
    sources,
  );
  expect(issues.length).toBeGreaterThan(3);
  expect(JSON.stringify([issues, warnings])).not.toContain(canary);
});

test("readiness expressions are judged where a judge is given", () => {
  const readiness = { mode: "Checks", checks: [{ cel: { expression: "self.x >" } }] };
  const plan = aPlan([{ resources: [{ manifest: cm("a"), readiness }] }]);
  expect(readContent(plan, sources).issues).toEqual([]);
  const issues = readContent(plan, { ...sources, checkExpression: () => "ends too early" }).issues;
  expect(issues.map(({ field, message }) => [field, message])).toEqual([
    ["readiness.checks[0].cel.expression", "readiness.checks[0].cel.expression: ends too early"],
  ]);
});
