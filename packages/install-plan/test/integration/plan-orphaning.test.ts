import { installPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule, grant } from "../support/grants.ts";
import { namespaces, pods } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { reference, store } from "../support/stored.ts";
import { allPermissions, configMaps, setUpWorkbench } from "../support/workbench.ts";

describe("a plan is deleted and its objects are to stay", () => {
  test("[install-plan/110] they stay although the annotation for it is removed before the work is done", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    await grant(bench, [coreRule("configmaps", "*")]);
    const stages = ["a", "b"].map((name) => ({ name, resources: [configMap(name)] }));
    await bench.create(bench.plan("p", stages));
    await bench.installed("p");
    // Nothing can be released now, and the garbage collector takes its finalizer off meanwhile.
    await grant(bench, [coreRule("configmaps", "get")]);
    const ref = { namespace: bench.namespace, name: "p" };
    await bench.client.delete(installPlan.kind, ref, { propagation: "Orphan" });
    await bench.until("p", (status) => conditionOf(status, "DeletionBlocked")?.status === "True");
    await eventually(
      async () => !(await bench.read("p")).metadata.finalizers?.some((name) => name === "orphan"),
    );
    expect((await bench.read("p")).status?.deletion).toMatchObject({ orphan: true, remaining: 2 });
    await grant(bench, [coreRule("configmaps", "*")]);
    await eventually(async () => {
      if ((await bench.client.find(installPlan.kind, ref)) === undefined) return true;
      // The server's own caches of permissions are briefly behind.
      await bench.patchPlan("p", {
        metadata: { labels: { touched: String(Math.trunc(performance.now())) } },
      });
      return false;
    });
    for (const name of ["a", "b"]) {
      const left = await bench.client.get(configMaps, { namespace: bench.namespace, name });
      expect(left.metadata.labels ?? {}).toEqual({});
    }
  });

  test("[install-plan/110] they stay although the request came and went while no operator ran", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const first = await bench.operate();
    const settings = aConfigMap({ name: "settings", data: { a: "1" } });
    await store(bench, settings);
    await bench.create(bench.plan("p", [{ name: "s", resources: [reference(settings), configMap("c")] }]));
    await bench.installed("p");
    await first.stop();
    const ref = { namespace: bench.namespace, name: "p" };
    await bench.client.delete(installPlan.kind, ref, { propagation: "Orphan" });
    await eventually(
      async () => !(await bench.read("p")).metadata.finalizers?.some((name) => name === "orphan"),
    );
    await bench.operate();
    await eventually(async () => (await bench.client.find(installPlan.kind, ref)) === undefined);
    for (const name of ["settings", "c"]) {
      const left = await bench.client.get(configMaps, { namespace: bench.namespace, name });
      expect(left.metadata.labels ?? {}).toEqual({});
    }
  });

  test("a namespace with one object or one bare pod of others stays, however many of the plan's own are in it", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const homes = ["objects", "pods"].map((name) => `${bench.namespace}-${name}`);
    const [objects = "", bare = ""] = homes;
    for (const name of homes) bench.use(removing(bench.client, namespaces, { name }));
    const made = homes.map((name) => inline({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    const inside = Array.from({ length: 60 }, (_, index) =>
      inline(aConfigMap({ name: `ours-${index}`, namespace: objects })),
    );
    await bench.create(
      bench.plan("p", [{ name: "s", concurrency: 16, resources: [...made, ...inside] }], {
        scope: "Cluster",
      }),
    );
    await bench.installed("p");
    await bench.client.create(configMaps, aConfigMap({ name: "theirs", namespace: objects }));
    await bench.client.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "theirs", namespace: bare },
      spec: { containers: [{ name: "main", image: "nowhere.invalid/a:1" }] },
    } as KubeObject);
    await bench.deletePlan("p");
    await eventually(
      async () =>
        (await bench.client.find(installPlan.kind, { namespace: bench.namespace, name: "p" })) === undefined,
    );
    for (const name of homes)
      expect((await bench.client.get(namespaces, { name })).metadata.deletionTimestamp).toBeUndefined();
    expect(await bench.client.find(configMaps, { namespace: objects, name: "ours-0" })).toBeUndefined();
  });

  test("[install-plan/104] a namespace that hangs is named as what is in the way", async () => {
    await using bench = await setUpWorkbench({ rules: [], clusterRules: [allPermissions] });
    const home = `${bench.namespace}-hangs`;
    const made = { apiVersion: "v1", kind: "Namespace", metadata: { name: home } };
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [inline(made, { lifecycle: { protectData: false } })] }], {
        scope: "Cluster",
      }),
    );
    await bench.installed("p");
    const held = aConfigMap({ name: "held", namespace: home });
    await bench.client.create(configMaps, {
      ...held,
      metadata: { ...held.metadata, finalizers: ["test.example/hold"] },
    });
    await bench.deletePlan("p");
    const { status } = await bench.until(
      "p",
      (now) => conditionOf(now, "DeletionBlocked")?.status === "True",
    );
    expect(status?.deletion?.blockedBy).toMatchObject([
      { object: { kind: "Namespace", name: home }, finalizers: ["kubernetes"] },
    ]);
    const body = { metadata: { finalizers: null } };
    const patch = { kind: "merge", body } as const;
    await bench.client.patch(configMaps, { namespace: home, name: "held" }, { patch });
  });
});
