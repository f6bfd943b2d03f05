import { randomBytes } from "node:crypto";

import { describe, expect, test } from "vitest";

import { resolveManifest } from "../../../src/manifest/resolve-manifest.ts";
import { pack, type Packed, type PackOptions } from "../../../src/offline/index.ts";

const options: PackOptions = { name: "shop", namespace: "shop", serviceAccountName: "installer" };

function packed(values: readonly unknown[], more: Partial<PackOptions> = {}): Packed {
  const documents = values.map((value, index) => ({ value, source: `shop.yaml, document ${index + 1}` }));
  return pack(documents, { ...options, ...more });
}

function anObject(kind: string, name: string, more: object = {}): Readonly<Record<string, unknown>> {
  const [apiVersion = "", kindName = ""] = kind.includes(" ") ? kind.split(" ") : ["v1", kind];
  return { apiVersion, kind: kindName, metadata: { name }, ...more };
}

function stagesOf({ plan }: Packed): readonly (readonly [string, number])[] {
  return plan.spec.stages.map(({ name, resources }) => [name, resources.length] as const);
}

describe("stages", () => {
  test("follow the kinds, whatever the order of the input", () => {
    const found = packed([
      anObject("example.com/v1 Widget", "w"),
      anObject("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "hook"),
      anObject("apps/v1 Deployment", "web"),
      anObject("Service", "web"),
      anObject("PersistentVolumeClaim", "data"),
      anObject("rbac.authorization.k8s.io/v1 Role", "role"),
      anObject("ConfigMap", "settings"),
      anObject("ServiceAccount", "web"),
      anObject("apiextensions.k8s.io/v1 CustomResourceDefinition", "widgets.example.com"),
      anObject("Namespace", "shop"),
    ]);
    expect(found.issues).toEqual([]);
    expect(stagesOf(found).map(([name]) => name)).toEqual([
      "namespaces",
      "definitions",
      "policies",
      "config",
      "rbac",
      "storage",
      "services",
      "workloads",
      "registrations",
      "custom",
    ]);
  });

  test("that select nothing are reported, so that a slip of the pen is seen", () => {
    const { warnings } = packed([anObject("ConfigMap", "a")], {
      stages: [{ name: "late", select: ["ConfigMap/a", "Deploymnt/web"] }],
    });
    expect(warnings).toEqual(["stage late: no object matches Deploymnt/web; write kinds as in manifests"]);
  });

  test("cannot be called as a part of a large one", () => {
    const many = Array.from({ length: 501 }, (_, index) => anObject("ConfigMap", `c-${index}`));
    const { issues } = packed([...many, anObject("Secret", "s")], {
      stages: [{ name: "config-2", select: ["Secret"] }],
    });
    expect(issues.map(({ message }) => message)).toEqual(["duplicate stage config-2: choose another name"]);
  });

  test("hold no more objects together than the operator takes", () => {
    const many = Array.from({ length: 5_001 }, (_, index) => anObject("ConfigMap", `c-${index}`));
    expect(packed(many.slice(1)).issues).toEqual([]);
    expect(packed(many).issues.map(({ message }) => message)).toEqual([
      "5001 objects exceed the limit of 5000 per plan; split the objects into several plans",
    ]);
  });

  test("that are too large become several", () => {
    const many = Array.from({ length: 1_001 }, (_, index) => anObject("ConfigMap", `c-${index}`));
    expect(stagesOf(packed(many))).toEqual([
      ["config", 500],
      ["config-2", 500],
      ["config-3", 1],
    ]);
  });

  test("more than 50 are refused", () => {
    const many = Array.from({ length: 51 }, (_, index) => anObject("ConfigMap", `c-${index}`));
    const stages = many.map((_, index) => ({ name: `s-${index}`, select: [`ConfigMap/c-${index}`] }));
    expect(packed(many, { stages }).issues.map(({ message }) => message)).toEqual([
      "51 stages exceed the limit of 50 per plan; split the objects into several plans",
    ]);
  });

  test.each([
    { name: "by kind", select: ["ConfigMap"], want: ["ui-a", "ui-b", "x"] },
    { name: "by name", select: ["ConfigMap/x"], want: ["x"] },
    { name: "by the start of a name", select: ["ConfigMap/ui-*"], want: ["ui-a", "ui-b"] },
    { name: "by the middle of a name", select: ["ConfigMap/*-*"], want: ["ui-a", "ui-b"] },
    { name: "by the end of a name", select: ["ConfigMap/*b", "ConfigMap/x"], want: ["ui-b", "x"] },
  ])("can be requested $name", ({ select, want }) => {
    const objects = ["ui-a", "ui-b", "x"].map((name) => anObject("ConfigMap", name));
    const { plan } = packed([...objects, anObject("Service", "s")], { stages: [{ name: "late", select }] });
    const last = plan.spec.stages.at(-1);
    const names = last?.resources.map((resource) =>
      "manifest" in resource ? resource.manifest["metadata"] : undefined,
    );
    expect(last?.name).toBe("late");
    expect(names).toEqual(want.map((name) => ({ name })));
  });
});

describe("objects", () => {
  const list = {
    apiVersion: "v1",
    kind: "ConfigMapList",
    items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }],
  };

  test("of a list stand on their own", () => {
    expect(stagesOf(packed([list]))).toEqual([["config", 2]]);
  });

  test("that are the same are kept once, with a warning", () => {
    const twice = packed([anObject("ConfigMap", "a"), anObject("ConfigMap", "a")]);
    expect(stagesOf(twice)).toEqual([["config", 1]]);
    expect(twice.warnings).toEqual(["shop.yaml, document 2: ConfigMap a: identical copies were dropped"]);
  });

  test("that differ under one name are refused, wherever the namespace is written", () => {
    const one = anObject("ConfigMap", "a", { data: { x: "1" } });
    const other = {
      ...anObject("ConfigMap", "a"),
      metadata: { name: "a", namespace: "shop" },
      data: { x: "2" },
    };
    const { issues } = packed([one, other]);
    expect(issues[0]?.object).toEqual({ apiVersion: "v1", kind: "ConfigMap", name: "a" });
    expect(issues.map(({ message }) => message)).toEqual([
      "shop.yaml, document 1; shop.yaml, document 2: ConfigMap a: occurs more than once with different content; keep one",
    ]);
  });

  test("lose their status, with a warning", () => {
    const { plan, warnings } = packed([anObject("ConfigMap", "a", { status: { phase: "old" } })]);
    expect(plan.spec.stages[0]?.resources).toEqual([{ manifest: anObject("ConfigMap", "a") }]);
    expect(warnings).toEqual(["shop.yaml, document 1: ConfigMap a: status was dropped"]);
  });

  test("report all their problems together, with document, object and field", () => {
    const { issues } = packed([
      { kind: "ConfigMap", metadata: { name: "a", uid: "x" } },
      anObject("ConfigMap", "Not A Name"),
      "text",
    ]);
    expect(issues.map(({ message }) => message)).toEqual([
      "shop.yaml, document 1: ConfigMap a: apiVersion must be <version> or <group>/<version>",
      "shop.yaml, document 1: ConfigMap a: metadata.uid is set by the API server; remove it",
      expect.stringMatching(/^shop.yaml, document 2: ConfigMap Not A Name: metadata.name must be/),
      "shop.yaml, document 3: object without a name: a manifest must be an object",
      "no objects to install",
    ]);
  });

  test.each([
    { name: "none written", given: [anObject("ConfigMap", "a")], want: "Namespace" },
    {
      name: "the plan's own",
      given: [anObject("ConfigMap", "a", { metadata: { name: "a", namespace: "shop" } })],
      want: "Namespace",
    },
    {
      name: "another",
      given: [anObject("ConfigMap", "a", { metadata: { name: "a", namespace: "b" } })],
      want: "Cluster",
    },
    {
      name: "a kind without one",
      given: [anObject("scheduling.k8s.io/v1 PriorityClass", "a")],
      want: "Cluster",
    },
    { name: "an unknown kind", given: [anObject("example.com/v1 Widget", "a")], want: "Namespace" },
  ])("choose the scope by their namespace: $name", ({ given, want }) => {
    expect(packed(given).plan.spec.scope).toBe(want);
  });
});

test("objects of a kind that is defined elsewhere get the scope that the caller names", () => {
  const issuer = anObject("cert-manager.io/v1 ClusterIssuer", "a");
  expect(packed([issuer]).plan.spec.scope).toBe("Namespace");
  expect(packed([issuer], { scope: "Cluster" }).plan.spec.scope).toBe("Cluster");
});

describe("the plan", () => {
  test("says no more than it was given", () => {
    expect(packed([anObject("ConfigMap", "a")]).plan.spec).toEqual({
      serviceAccountName: "installer",
      scope: "Namespace",
      stages: [{ name: "config", resources: [{ manifest: anObject("ConfigMap", "a") }] }],
    });
  });

  test("waits for approval and replaces others when told", () => {
    const { spec } = packed([anObject("ConfigMap", "a")], {
      approval: "Manual",
      replaces: ["old", "older"],
    }).plan;
    expect(spec).toMatchObject({
      approval: "Manual",
      replaces: { plans: [{ name: "old" }, { name: "older" }] },
    });
  });
});

describe("storage", () => {
  const sized = (name: string, sizeBytes: number): object =>
    anObject("ConfigMap", name, { data: { text: "x".repeat(sizeBytes) } });

  test("is the plan itself below 256 KiB", () => {
    const { manifests, plan } = packed([sized("a", 100_000), sized("b", 100_000)]);
    expect(manifests).toEqual([]);
    expect(plan.spec.stages[0]?.resources.every((resource) => "manifest" in resource)).toBe(true);
  });

  test("is the plan for the smallest of them when all together are larger", () => {
    const { manifests, plan } = packed([
      sized("large", 250_000),
      sized("small", 10_000),
      sized("middle", 20_000),
      sized("other", 25_000),
    ]);
    const resources = plan.spec.stages.flatMap((stage) => stage.resources);
    expect(resources.map((resource) => Object.keys(resource))).toEqual([
      ["manifestRef"],
      ["manifest"],
      ["manifest"],
      ["manifestRef"],
    ]);
    expect(manifests).toHaveLength(2);
    expect(JSON.stringify(plan).length).toBeLessThan(64 * 1_000);
  });

  test("is one manifest for each of the others, by digest, and it holds what it says", () => {
    const { manifests, plan } = packed([
      sized("a", 120_000),
      sized("b", 1_000_000),
      sized("full", 20_000),
      sized("up", 10_000),
    ]);
    const resources = plan.spec.stages.flatMap((stage) => stage.resources.slice(0, 2));
    expect(manifests.map(({ spec }) => spec.encoding ?? "raw")).toEqual(["raw", "gzip"]);
    expect(manifests.map((manifest) => manifest.metadata.name)).toEqual(
      manifests.map(({ spec }) => `rm-${spec.sha256.slice(0, 16)}`),
    );
    expect(resources).toEqual(
      manifests.map(({ metadata, spec }, index) => ({
        manifestRef: {
          name: metadata.name,
          sha256: spec.sha256,
          object: { apiVersion: "v1", kind: "ConfigMap", name: index === 0 ? "a" : "b" },
        },
      })),
    );
    const resolved = manifests.map((manifest) => resolveManifest(manifest as never, () => undefined));
    expect(resolved.map(({ kind }) => kind)).toEqual(["ok", "ok"]);
  });

  test("refuses what cannot be packed small enough, with its size", () => {
    const noise = anObject("ConfigMap", "noise", {
      data: { text: randomBytes(1_400_000).toString("base64") },
    });
    expect(packed([noise]).issues.map(({ message }) => message)).toEqual([
      "shop.yaml, document 1: ConfigMap noise: 1824 KiB exceed the object size limit of the API server, even compressed; make it smaller",
    ]);
  });

  test("keeps Secrets in the plan with a warning, or in immutable Secrets", () => {
    const secret = anObject("Secret", "s", { data: { password: "aHVudGVyMg==" } });
    expect(packed([secret]).warnings).toHaveLength(1);
    const apart = packed([secret], { secrets: "secretRef" });
    expect(JSON.stringify([apart.plan, apart.manifests, apart.warnings])).not.toContain("aHVudGVyMg==");
    const [kept] = apart.secrets;
    const [manifest] = apart.manifests;
    expect(kept).toMatchObject({ kind: "Secret", immutable: true });
    expect(resolveManifest(manifest as never, () => kept as never)).toEqual({ kind: "ok", value: secret });
  });

  test("gives the same plan for the same input", () => {
    const values = [sized("a", 300_000), sized("b", 300_000)];
    expect(packed(values)).toEqual(packed(values));
  });
});
