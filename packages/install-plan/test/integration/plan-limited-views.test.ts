import { resourceManifest } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { widget, widgets, type WidgetDefinition } from "../support/definitions.ts";
import { clusterRoles, crds, secrets } from "../support/kinds.ts";
import { isAllowed, letRead, optIn, setUpLimited } from "../support/limited-permissions.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { reference, store, storedName } from "../support/stored.ts";
import type { Workbench } from "../support/workbench.ts";

async function define(bench: Workbench, name: string): Promise<WidgetDefinition> {
  const definition = widgets(`${name}.${bench.namespace}.example`);
  bench.use(removing(bench.client, crds, { name: definition.name }));
  await bench.client.create(crds, definition.object);
  await eventually(async () => {
    await bench.client.create(definition.kind, placed(bench, definition, "probe"), { dryRun: true });
    return true;
  });
  return definition;
}

function placed({ namespace }: Workbench, definition: WidgetDefinition, name: string) {
  return { ...widget(definition, name), metadata: { name, namespace } };
}

/** What the plan says about itself while a permission of the operator is missing. */
async function reportedOf(bench: Workbench, name: string, text: string): Promise<void> {
  await bench.until(name, (status) =>
    ["Ready", "Authorized"].some((type) => conditionOf(status, type)?.message.includes(text)),
  );
}

describe("what plans look at beside their own objects, with the limited permissions", () => {
  test("content in a Secret waits for the namespace to opt in", async () => {
    await using bench = await setUpLimited();
    const { client, namespace } = bench;
    const object = aConfigMap({ name: "held", data: { a: "1" } });
    const data = { manifest: Buffer.from(JSON.stringify(object)).toString("base64") };
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", namespace },
      immutable: true,
      data,
    };
    await client.create(secrets, secret);
    await store(bench, object, { secretKeyRef: { name: "s", key: "manifest" } });
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(object)] }]));
    await reportedOf(bench, "p", "kubectl create rolebinding quartermaster-plans");
    const manifest = await eventually(async () => {
      const found = await client.get(resourceManifest.kind, { namespace, name: storedName(object) });
      return found.status?.reason === undefined ? undefined : found;
    });
    expect(manifest.status?.reason).toContain("Each plan reads it as its own account");
    await optIn(bench);
    await bench.installed("p", 10_000);
  });

  test("a transformation of a kind that the operator may not read is read as the plan's account", async () => {
    await using bench = await setUpLimited();
    await optIn(bench);
    const definition = await define(bench, "transformed");
    await bench.client.create(definition.kind, placed(bench, definition, "old"));
    const from = { apiVersion: `${definition.group}/v1`, kind: "Widget", names: ["old"], allowUnowned: true };
    const to = { resources: [{ stage: "s", kind: "ConfigMap", name: "c" }] };
    const transformations = [{ name: "t", from, to }];
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }], { transformations }));
    await bench.installed("p", 10_000);
    const old = { namespace: bench.namespace, name: "old" };
    expect(await bench.client.find(definition.kind, old)).toBeUndefined();
  });

  test("a plan does not replace one whose objects may not be watched any more, until they may", async () => {
    await using bench = await setUpLimited({ isOperating: false });
    await optIn(bench);
    const definition = await define(bench, "left");
    await letRead(bench, definition.group, "widgets");
    const manager = await bench.operate();
    await bench.create(bench.plan("a", [{ name: "s", resources: [inline(widget(definition, "w"))] }]));
    await bench.installed("a");
    await manager[Symbol.asyncDispose]();
    await bench.client.delete(clusterRoles, { name: `${bench.namespace}-widgets` });
    const permission = { verb: "watch", resource: "widgets", group: definition.group };
    await eventually(async () => !(await isAllowed(bench, permission)));
    await bench.operate();
    const replaces = { replaces: { plans: [{ name: "a" }] } };
    await bench.create(bench.plan("b", [{ name: "s", resources: [configMap("c")] }], replaces));
    await reportedOf(bench, "b", `may not watch widgets.${definition.group};`);
    await letRead(bench, definition.group, "widgets");
    await bench.installed("b", 20_000);
    const left = { namespace: bench.namespace, name: "w" };
    expect(await bench.client.find(definition.kind, left)).toBeUndefined();
  });
});
