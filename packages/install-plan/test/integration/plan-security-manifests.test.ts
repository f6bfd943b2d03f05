import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { configMaps, crds, roles } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { reference, storeAs } from "../support/stored.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

/** Creates the plan, waits until it is refused and gives its message; nothing may have been written. */
async function refusalOf(bench: Workbench, resources: readonly object[]): Promise<string> {
  const position = await bench.audit.position();
  await bench.create(bench.plan("p", [{ name: "s", resources }]));
  const { status } = await bench.inPhase("p", "Invalid");
  expect(await bench.writes(position)).toEqual([]);
  return status?.message ?? "";
}

function withMetadata(metadata: object): object {
  return inline({ apiVersion: "v1", kind: "ConfigMap", metadata });
}

describe("manifests that reach for more than they may", () => {
  test.each([
    { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" },
    { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" },
    { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService" },
    { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
  ])("[security/7] $kind needs a plan that says it is cluster-wide", async ({ apiVersion, kind }) => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const manifest = { apiVersion, kind, metadata: { name: `x.${bench.namespace}` } };
    const message = await refusalOf(bench, [configMap("before"), inline(manifest)]);
    expect(message).toContain("is cluster-scoped; set scope: Cluster");
  });

  test.each([
    { field: "ownerReferences", value: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }] },
    { field: "finalizers", value: ["kubernetes.io/pv-protection"] },
    { field: "managedFields", value: [{ manager: "kubectl", operation: "Update" }] },
  ])("[security/9] $field of a manifest is refused", async ({ field, value }) => {
    await using bench = await setUpWorkbench();
    const message = await refusalOf(bench, [
      configMap("before"),
      withMetadata({ name: "c", [field]: value }),
    ]);
    expect(message).toContain(`metadata.${field}`);
  });

  test.each(["labels", "annotations"])("our own marks in %s are refused", async (field) => {
    await using bench = await setUpWorkbench();
    const ownerLabels = { "install.quartermaster.dev/owner": "me" };
    const message = await refusalOf(bench, [withMetadata({ name: "c", [field]: ownerLabels })]);
    expect(message).toContain("is reserved for Quartermaster");
  });

  test.each([
    {
      name: "a kind under another group",
      manifest: { apiVersion: "apps/v1", kind: "ConfigMap", metadata: { name: "c" } },
      text: "is not served",
    },
    {
      name: "lists within lists within lists",
      manifest: nested(6),
      text: "lists may be nested at most 4 levels deep",
    },
    {
      name: "an item of another kind",
      manifest: {
        apiVersion: "v1",
        kind: "ConfigMapList",
        metadata: {},
        items: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }],
      },
      text: "Secret",
    },
    {
      name: "generateName",
      manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "c-" } },
      text: "generateName",
    },
  ])("[security/19] $name is refused", async ({ manifest, text: terms }) => {
    await using bench = await setUpWorkbench();
    expect(await refusalOf(bench, [configMap("before"), inline(manifest)])).toContain(terms);
  });

  test.each(["a%2f..%2fb", "../b", "a/b", "a b", "%2e%2e", "a=b,c!=d"])(
    "[security/24] [security/112] %s is no name in a reference: the API server refuses the plan",
    async (name) => {
      await using bench = await setUpWorkbench();
      const object = aConfigMap({ name });
      await storeAs(bench, "packed", object);
      await expect(refusalOf(bench, [reference(object, "packed")])).rejects.toThrow(/name.*should match/s);
    },
  );

  test.each(["..", "A"])("[security/24] %s is no name of an object", async (name) => {
    await using bench = await setUpWorkbench();
    // Packed, because the API server looks at the names of objects that stand in a plan itself.
    const object = aConfigMap({ name });
    await storeAs(bench, "packed", object);
    const message = await refusalOf(bench, [configMap("before"), reference(object, "packed")]);
    expect(message).toContain("metadata.name must be a DNS subdomain");
  });

  test("[security/24] a name with colons is one segment of a path", async () => {
    await using bench = await setUpWorkbench();
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "team:a:reader" },
      rules: [],
    };
    await bench.create(bench.plan("p", [{ name: "s", resources: [inline(role)] }]));
    await bench.installed("p");
    const made = await bench.client.get(roles, { namespace: bench.namespace, name: "team:a:reader" });
    expect(made.metadata.labels).toHaveProperty(["install.quartermaster.dev/plan-id"]);
  });
});

describe("manifests with strange keys and sizes", () => {
  test("[security/18] keys of prototypes are stored as they are and change nothing else", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const definition = widgets(`${bench.namespace}.example.com`);
    bench.use(removing(bench.client, crds, definition));
    await bench.client.create(crds, definition.object);
    const strange =
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"prototype":"x"}';
    const text = JSON.stringify({
      object: { ...widget(definition, "strange"), spec: "SPEC" },
      data: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "strange", labels: "LABELS" },
        data: "DATA",
      },
    })
      .replace('"SPEC"', `{"deep":[${strange}],"__proto__":${strange}}`)
      .replace('"LABELS"', '{"constructor":"a","toString":"b"}')
      .replace('"DATA"', '{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}');
    const { object, data } = JSON.parse(text) as Readonly<Record<"object" | "data", object>>;
    await bench.create(bench.plan("p", [{ name: "s", resources: [inline(data), inline(object)] }]));
    await bench.installed("p");
    const widgetText = JSON.stringify(
      await bench.client.get(definition.kind, { namespace: bench.namespace, name: "strange" }),
    );
    expect(widgetText).toContain('"__proto__":{"polluted":"yes"}');
    expect(widgetText).toContain('"constructor":{"prototype":{"polluted":"yes"}}');
    const made = await bench.client.get(configMaps, { namespace: bench.namespace, name: "strange" });
    expect(new Map(Object.entries(made.data ?? {}))).toEqual(
      new Map([
        ["__proto__", "a"],
        ["constructor", "b"],
        ["hasOwnProperty", "c"],
      ]),
    );
    expect(made.metadata.labels).toMatchObject({ constructor: "a", toString: "b" });
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
    const settled = await bench.read("p");
    expect(settled.status?.states).toEqual(["RR"]);
  });

  test("[security/22] a large field is not copied into an annotation", async () => {
    await using bench = await setUpWorkbench();
    const text = "x".repeat(1_000_000);
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("large", { text })] }]));
    await bench.installed("p");
    const { metadata, data } = await bench.client.get(configMaps, {
      namespace: bench.namespace,
      name: "large",
    });
    expect(data?.["text"]?.length).toBe(1_000_000);
    expect(JSON.stringify(metadata.annotations).length).toBeLessThan(1_024);
  });

  test("[security/25] a kind of a tenant that is called like a core kind is another kind", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const group = `${bench.namespace}.example.com`;
    const kind = {
      group,
      version: "v1",
      kind: "ConfigMap",
      plural: "configmaps",
      scope: "Namespaced",
    } as const;
    const { object } = widgets(group);
    const poisoned = JSON.parse(
      JSON.stringify(object)
        .replaceAll("WidgetList", "ConfigMapList")
        .replaceAll('"Widget"', '"ConfigMap"')
        .replaceAll("widgets", "configmaps")
        .replace('"singular":"widget"', '"singular":"configmap","shortNames":["cm"]'),
    ) as typeof object;
    bench.use(removing(bench.client, crds, poisoned.metadata));
    await bench.client.create(crds, poisoned);
    await eventually(async () => await bench.client.listPage(kind, { namespace: bench.namespace }));
    const resources = [
      configMap("core"),
      inline({ apiVersion: `${group}/v1`, kind: "ConfigMap", metadata: { name: "theirs" }, spec: {} }),
    ];
    await bench.create(bench.plan("p", [{ name: "s", resources }]));
    await bench.installed("p");
    const names = async (of: typeof kind | typeof configMaps) =>
      (
        await bench.client.listPage(of, {
          namespace: bench.namespace,
          labelSelector: "install.quartermaster.dev/plan-id",
        })
      ).items.map(({ metadata }) => metadata.name);
    expect(await names(configMaps)).toEqual(["core"]);
    expect(await names(kind)).toEqual(["theirs"]);
  });
});

function nested(levels: number): object {
  const inner = levels === 0 ? [] : [nested(levels - 1)];
  return { apiVersion: "v1", kind: "List", metadata: {}, items: inner };
}
