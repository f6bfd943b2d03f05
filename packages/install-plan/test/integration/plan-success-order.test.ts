import { eventually, startFaultProxy, connect } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { isServed } from "../../src/crds/established-kinds.ts";
import { readYaml } from "../../src/manifest/read-yaml.ts";
import { widget, widgets } from "../support/definitions.ts";
import { configMaps, crds, namespaces } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

async function setUpClusterWide(): Promise<Workbench> {
  return await setUpWorkbench({ clusterRules: [allPermissions] });
}

const clusterWide = { scope: "Cluster" } as const;

describe("kinds and namespaces that come with the plan", () => {
  test("[install-plan/4] an object waits until the CRD listed after it is served", async () => {
    await using bench = await setUpClusterWide();
    const definition = widgets(`${bench.namespace}.example.com`);
    bench.use(removing(bench.client, crds, definition));
    const position = await bench.audit.position();
    const resources = [{ manifest: widget(definition, "first") }, { manifest: definition.object }];
    await bench.create(bench.plan("both", [{ name: "s", resources }], clusterWide));
    await bench.installed("both");
    const writes = await bench.writes(position);
    expect(writes.map(({ resource, code }) => [resource, code])).toEqual([
      ["customresourcedefinitions", 201],
      ["widgets", 201],
    ]);
  });

  test("[install-plan/5] a namespace listed last is made first", async () => {
    await using bench = await setUpClusterWide();
    const inside = `${bench.namespace}-inside`;
    bench.use(removing(bench.client, namespaces, { name: inside }));
    const position = await bench.audit.position();
    const resources = [
      { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: inside } } },
      { manifest: { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: inside } } },
      { manifest: { apiVersion: "v1", kind: "Namespace", metadata: { name: inside } } },
    ];
    await bench.create(bench.plan("home", [{ name: "s", resources }], clusterWide));
    await bench.installed("home");
    const writes = await bench.writes(position);
    expect(writes.map(({ resource, code }) => [resource, code])).toEqual([
      ["namespaces", 201],
      ["configmaps", 201],
      ["secrets", 201],
    ]);
  });

  test("[install-plan/6] a kind that no one provides stops the plan until its CRD appears", async () => {
    await using bench = await setUpClusterWide();
    const definition = widgets(`${bench.namespace}.example.com`);
    bench.use(removing(bench.client, crds, definition));
    const position = await bench.audit.position();
    const resources = [configMap("before"), { manifest: widget(definition, "first") }];
    await bench.create(bench.plan("orphaned", [{ name: "s", resources }]));
    const { status } = await bench.inPhase("orphaned", "Invalid");
    expect(status?.message).toContain(`the kind Widget of ${definition.group}/v1 is not served`);
    expect(await bench.writes(position)).toEqual([]);
    await bench.client.create(crds, definition.object);
    await bench.installed("orphaned");
  });

  test("[install-plan/7] an object waits for the new version of a CRD that was established before", async () => {
    await using bench = await setUpClusterWide();
    const group = `${bench.namespace}.example.com`;
    const before = widgets(group);
    bench.use(removing(bench.client, crds, before));
    await bench.client.create(crds, before.object);
    await eventually(async () => isServed(await bench.client.get(crds, before), "v1"));
    const after = widgets(group, [{ name: "v1" }, { name: "v2" }]);
    const position = await bench.audit.position();
    const resources = [{ manifest: widget(after, "first", { version: "v2" }) }, { manifest: after.object }];
    await bench.create(
      bench.plan("upgrade", [{ name: "s", resources }], {
        ...clusterWide,
        lifecycle: { adoption: "IfUnowned" },
      }),
    );
    await bench.installed("upgrade");
    const writes = await bench.writes(position);
    expect(writes.map(({ resource, code }) => [resource, code])).toEqual([
      ["customresourcedefinitions", 200],
      ["widgets", 201],
    ]);
  });

  test("[install-plan/16] a bare = in YAML stays the text that it is", async () => {
    await using bench = await setUpClusterWide();
    const group = `${bench.namespace}.example.com`;
    const definition = widgets(group, [
      { name: "v1", fields: { operator: { type: "string", enum: ["EQUALS", "!="] } } },
    ]);
    bench.use(removing(bench.client, crds, definition));
    const yaml = JSON.stringify(definition.object).replace('"EQUALS"', " = ");
    const [document] = readYaml(yaml).documents;
    const resources = [{ manifest: document?.value }];
    await bench.create(bench.plan("sign", [{ name: "s", resources }], clusterWide));
    await bench.installed("sign");
    expect(JSON.stringify(await bench.client.get(crds, definition))).toContain('"enum":["=","!="]');
  });
});

describe("a stage that may be written side by side", () => {
  test("[install-plan/8] 500 objects are made with at most 16 requests in progress", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    await using proxy = await startFaultProxy({ upstream: bench.operatorAccess });
    await using link = connect({ ...proxy.access, token: bench.operatorAccess.token });
    let most = 0;
    // Never injects: it is called for each request as it arrives, and counts those not answered yet.
    proxy.inject(
      ({ verb, isDryRun }) => {
        if (verb !== "patch" || isDryRun) return false;
        const open = proxy.trace.filter(
          (entry) => entry.resource === "configmaps" && entry.status === undefined,
        );
        most = Math.max(most, open.filter((entry) => entry.verb === "patch").length + 1);
        return false;
      },
      { kind: "hold-request" },
    );
    await bench.operate({ transport: link.transport });
    const resources = Array.from({ length: 500 }, (_, index) => configMap(`c${index}`));
    await bench.create(bench.plan("many", [{ name: "s", concurrency: 16, resources }]));
    await bench.installed("many", 60_000);
    const { items } = await bench.client.listPage(configMaps, {
      namespace: bench.namespace,
      labelSelector: "install.quartermaster.dev/plan-id",
      pageSize: 1000,
    });
    expect(items).toHaveLength(500);
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(16);
  });
});
