import { cpuMs } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { jobProblems } from "../../../src/manifest/object-problems.ts";
import { readContent } from "../../../src/manifest/read-content.ts";
import { matchesLabels, parseLabelSelector } from "../../../src/manifest/transformation-problems.ts";
import { aPlan, cm, sources, tell } from "./sample-plan.ts";

describe("jobFaults", () => {
  const pod = { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" };
  const cases = [
    {
      name: "nothing in a job that ends under the plan's account",
      given: { template: { spec: { ...pod, serviceAccountName: "installer" } } },
      want: [],
    },
    {
      name: "nothing in a job that names no account",
      given: { template: { spec: { ...pod, restartPolicy: "OnFailure", serviceAccountName: "" } } },
      want: [],
    },
    {
      name: "another account",
      given: { template: { spec: { ...pod, serviceAccountName: "admin" } } },
      want: ["template.spec.serviceAccountName"],
    },
    {
      name: "another account under the old name",
      given: { template: { spec: { ...pod, serviceAccountName: "installer", serviceAccount: "admin" } } },
      want: ["template.spec.serviceAccount"],
    },
    {
      name: "an account that is no text",
      given: { template: { spec: { ...pod, serviceAccountName: ["installer"] } } },
      want: ["template.spec.serviceAccountName"],
    },
    {
      name: "a pod that restarts for ever",
      given: { template: { spec: { containers: [{}] } } },
      want: ["template.spec.restartPolicy"],
    },
    {
      name: "no containers and Always",
      given: { template: { spec: { restartPolicy: "Always" } } },
      want: ["template.spec.containers", "template.spec.restartPolicy"],
    },
    { name: "a suspended job", given: { suspend: true, template: { spec: pod } }, want: ["suspend"] },
    {
      name: "a whole Job instead of its spec",
      given: { kind: "Job", spec: { template: { spec: pod } } },
      want: ["template.spec"],
    },
    { name: "text", given: "x", want: ["template.spec"] },
  ];
  test.for(cases)("finds $name", ({ given, want }) => {
    expect(jobProblems(given, "installer").map(({ field }) => field)).toEqual(want);
  });

  test("are issues of the plan, with stage and job", () => {
    const plan = aPlan([{ jobs: [{ name: "migrate", template: {} }] }]);
    expect(tell(readContent(plan, sources))).toEqual([
      "InvalidJob s0[-] jobs[migrate].template.template.spec",
    ]);
  });
});

describe("transformations", () => {
  const from = { apiVersion: "apps/v1", kind: "Deployment", names: ["old"] };
  const to = { resources: [{ stage: "s0", kind: "ConfigMap", name: "a" }] };
  const cases = [
    { name: "accepts named members", given: { from, to }, want: [] },
    { name: "accepts members by label", given: { from, to: { labelSelector: "app=x" } }, want: [] },
    {
      name: "accepts a kind that is not served: it has no objects",
      given: { from: { ...from, kind: "Gone" }, to },
      want: [],
    },
    {
      name: "refuses a member that is not there",
      given: { from, to: { resources: [...to.resources, { stage: "s0", kind: "ConfigMap", name: "b" }] } },
      want: ["to.resources[1]"],
    },
    {
      name: "refuses a member of another stage",
      given: { from, to: { resources: [{ stage: "s1", kind: "ConfigMap", name: "a" }] } },
      want: ["to.resources[0]"],
    },
    { name: "refuses labels that no one has", given: { from, to: { labelSelector: "app=y" } }, want: ["to"] },
    { name: "refuses to go nowhere", given: { from, to: {} }, want: ["to"] },
    {
      name: "refuses blank selectors",
      given: { from: { ...from, labelSelector: " ", fieldSelector: " " }, to: { labelSelector: "," } },
      want: ["from.labelSelector", "from.fieldSelector", "to.labelSelector"],
    },
    {
      name: "refuses names with paths in them",
      // The schema refuses slashes and percent signs before that.
      given: { from: { ...from, names: ["ok", "..", "."] }, to },
      want: ["from.names[1]", "from.names[2]"],
    },
    {
      name: "refuses another namespace in scope Namespace",
      given: { from: { ...from, namespace: "other" }, to },
      want: ["from.namespace"],
    },
    {
      name: "refuses a cluster-wide kind in scope Namespace",
      given: { from: { apiVersion: "v1", kind: "Namespace", names: ["x"] }, to },
      want: ["from.kind"],
    },
    {
      name: "refuses to delete first without a user's word",
      given: { from, to, strategy: "DeleteBeforeCreate" },
      want: ["strategy"],
    },
    {
      name: "deletes first where unowned objects are allowed",
      given: { from: { ...from, allowUnowned: true }, to, strategy: "DeleteBeforeCreate" },
      want: [],
    },
    {
      name: "deletes first with manual approval",
      given: { from, to, strategy: "DeleteBeforeCreate" },
      spec: { approval: "Manual" },
      want: [],
    },
    {
      name: "reaches other namespaces in scope Cluster",
      given: { from: { ...from, namespace: "other" }, to },
      spec: { scope: "Cluster" },
      want: [],
    },
  ];
  test.for(cases)("$name", ({ given, spec = {}, want }) => {
    const member = cm("a", {}, { labels: { app: "x" } });
    const plan = aPlan([{ resources: [{ manifest: member }] }, {}], {
      transformations: [{ name: "t", ...given }],
      ...spec,
    });
    expect(tell(readContent(plan, sources))).toEqual(
      want.map((field) => `InvalidTransformation -[-] transformations[t].${field}`),
    );
  });
});

describe("label selectors", () => {
  const labels = { app: "shop", tier: "web", constructor: "x" };
  const cases = [
    { given: "app=shop", want: true },
    { given: "app==shop, tier != db", want: true },
    { given: "app=other", want: false },
    { given: "tier in (db, web),app", want: true },
    { given: "tier notin (db,web)", want: false },
    { given: "absent notin (a)", want: true },
    { given: "absent!=a", want: true },
    { given: "!absent", want: true },
    { given: "!app", want: false },
    { given: "toString", want: false },
    { given: "constructor=x", want: true },
    { given: "example.com/app", want: false },
    { given: "", want: undefined },
    { given: ",", want: undefined },
    { given: "app=shop,", want: undefined },
    { given: "app in shop", want: undefined },
    { given: "a=b=c", want: undefined },
    { given: "app in (a", want: undefined },
  ];
  test.for(cases)("$given", ({ given, want }) => {
    const demands = parseLabelSelector(given);
    expect(demands === undefined ? undefined : matchesLabels({ metadata: { labels } }, demands)).toBe(want);
  });

  test("reads 100 kB in 10 ms, whatever they hold", () => {
    for (const piece of ["a", "a ", "(", ",", "a in (", "!"]) {
      const text = piece.repeat(100_000 / piece.length);
      expect(
        cpuMs(() => parseLabelSelector(text)),
        piece,
      ).toBeLessThan(10);
    }
  });
});
