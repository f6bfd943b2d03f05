import { installPlan } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import { pack, type Packed, type PackOptions } from "../../../src/offline/index.ts";

const options: PackOptions = { name: "shop", namespace: "shop", serviceAccountName: "installer" };

function packed(values: readonly unknown[], more: Partial<PackOptions> = {}): Packed {
  const documents = values.map((value, index) => ({ value, source: `document ${index + 1}` }));
  return pack(documents, { ...options, ...more });
}

const run = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } };

interface Hook {
  readonly hook?: string;
  readonly weight?: string;
  readonly policy?: string;
  readonly namespace?: string;
}

function anObject(kind: string, name: string, { hook, weight, policy, namespace }: Hook = {}): object {
  const annotations = {
    ...(hook === undefined ? {} : { "helm.sh/hook": hook }),
    ...(weight === undefined ? {} : { "helm.sh/hook-weight": weight }),
    ...(policy === undefined ? {} : { "helm.sh/hook-delete-policy": policy }),
  };
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), annotations };
  const apiVersion = kind === "Job" ? "batch/v1" : "v1";
  const spec = { Job: run, Pod: run.template.spec }[kind];
  return { apiVersion, kind, metadata, ...(spec === undefined ? {} : { spec }) };
}

function outline({ plan }: Packed): readonly string[] {
  return plan.spec.stages.map(({ name, resources, jobs = [] }) => {
    const names = resources.map((each) =>
      "manifest" in each ? (each.manifest["metadata"] as { name: string }).name : "",
    );
    return `${name}: ${names.join(" ")} | ${jobs.map((job) => job.name).join(" ")}`;
  });
}

describe("hooks of a chart", () => {
  const chart = [
    anObject("ConfigMap", "settings"),
    anObject("Job", "migrate", { hook: "pre-install,pre-upgrade", weight: "5" }),
    anObject("Job", "check", { hook: "pre-install", weight: "-1" }),
    anObject("ServiceAccount", "migrator", { hook: "pre-install,pre-upgrade", weight: "-5" }),
    anObject("Secret", "late", { hook: "pre-install", weight: "1" }),
    anObject("Job", "seed", { hook: "post-install" }),
    anObject("Job", "reindex", { hook: "post-upgrade" }),
    anObject("Job", "farewell", { hook: "pre-delete" }),
    anObject("Pod", "smoke", { hook: "test" }),
    anObject("Namespace", "shop"),
  ];

  test("[install-plan/133] become jobs and objects of stages, in the order of their weights", () => {
    const found = packed(chart, { scope: "Cluster" });
    expect(found.issues).toEqual([]);
    expect(outline(found)).toEqual([
      "namespaces: shop | ",
      "pre-install: migrator | check",
      "pre-install-2: late | migrate",
      "config: settings | ",
      "post-install:  | seed",
    ]);
    expect(found.plan.spec.stages[1]?.jobs).toEqual([{ name: "check", template: run }]);
    expect(installPlan.check(found.plan)).toEqual([]);
  });

  test("[install-plan/133] of an upgrade run in a plan that replaces another", () => {
    expect(outline(packed(chart, { scope: "Cluster", replaces: ["shop-1"] }))).toEqual([
      "namespaces: shop | ",
      "pre-upgrade: migrator | migrate",
      "config: settings | ",
      "post-upgrade:  | reindex",
    ]);
  });

  test("[install-plan/133] that a plan has no place for are left out, each with a line that says so", () => {
    expect(packed(chart, { scope: "Cluster", secrets: "secretRef" }).warnings).toEqual([
      "document 7: Job reindex: the hook post-upgrade is left out: plans have no such step; it is part of a plan with --replaces",
      "document 8: Job farewell: the hook pre-delete is left out: plans have no such step",
      "document 9: Pod smoke: the test hook is left out; run it yourself after the plan is Ready",
    ]);
  });

  test("that are Pods run as jobs that are not repeated", () => {
    const { plan } = packed([anObject("ConfigMap", "c"), anObject("Pod", "check", { hook: "post-install" })]);
    expect(plan.spec.stages.at(-1)?.jobs).toEqual([
      { name: "check", template: { backoffLimit: 0, template: { spec: run.template.spec } } },
    ]);
  });

  test("are kept after a failure unless Helm would delete them", () => {
    const { plan } = packed([
      anObject("Job", "a", { hook: "pre-install", policy: "before-hook-creation,hook-failed" }),
      anObject("Job", "b", { hook: "pre-install", policy: "hook-succeeded" }),
    ]);
    expect(plan.spec.stages[0]?.jobs?.map(({ keep }) => keep)).toEqual(["Never", undefined]);
  });

  test.each([1, 10, 11, 25])("%i of one weight fit into stages of ten jobs", (count) => {
    const hooks = Array.from({ length: count }, (_, at) =>
      anObject("Job", `job-${String(at).padStart(2, "0")}`, { hook: "pre-install" }),
    );
    const { plan, issues } = packed(hooks);
    expect(issues).toEqual([]);
    const jobs = plan.spec.stages.map((stage) => stage.jobs?.length ?? 0);
    expect(jobs).toEqual(
      Array.from({ length: Math.ceil(count / 10) }, (_, at) => Math.min(10, count - 10 * at)),
    );
  });

  test("of both ends run twice, their objects exist once", () => {
    const found = packed([
      anObject("ConfigMap", "both", { hook: "pre-install,post-install" }),
      anObject("Job", "twice", { hook: "pre-install, post-install" }),
    ]);
    expect(outline(found)).toEqual(["pre-install: both | twice", "post-install:  | twice"]);
  });

  test.each([
    {
      name: "another namespace",
      hook: anObject("Job", "a", { hook: "pre-install", namespace: "other" }),
      want: "document 1: Job other/a: a hook runs in the namespace of the plan, shop; render the chart for that namespace",
    },
    {
      name: "a name that is no label",
      hook: anObject("Job", "a.b", { hook: "pre-install" }),
      want: "document 1: Job a.b: the name of a hook must be a DNS label; shorten the release name",
    },
  ])("with $name are refused", ({ hook, want }) => {
    expect(packed([hook]).issues.map(({ message }) => message)).toEqual([want]);
  });

  test("an object that Helm keeps after an uninstallation stays when the plan is deleted", () => {
    const metadata = { name: "data", annotations: { "helm.sh/resource-policy": "keep" } };
    const { plan } = packed([
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata },
      anObject("ConfigMap", "c"),
    ]);
    expect(plan.spec.stages.map(({ resources }) => resources[0]?.lifecycle)).toEqual([
      undefined,
      { cleanup: "Orphan" },
    ]);
  });
});
