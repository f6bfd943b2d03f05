import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { coreRule, grant, untilAllowed } from "../support/grants.ts";
import { crds, secrets } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const lettingGo = { deletion: { ifUnauthorized: "Orphan" } };

function secret(name: string): object {
  return inline({ apiVersion: "v1", kind: "Secret", metadata: { name } });
}

async function deleted(bench: Workbench, name: string): Promise<void> {
  await bench.deletePlan(name);
  await eventually(async (see) => {
    const found = await bench.client.find(installPlan.kind, { namespace: bench.namespace, name });
    see(found?.status);
    return found === undefined;
  });
}

describe("a plan that may leave behind what its account may not delete", () => {
  test("[install-plan/106] everything else goes; what stays loses its marks if the account may do that", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    const { namespace } = bench;
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "*")]);
    const stages = [
      { name: "a", resources: [configMap("first")] },
      { name: "b", resources: [secret("kept"), configMap("beside")] },
      { name: "c", resources: [configMap("last")] },
    ];
    await bench.create(bench.plan("p", stages, lettingGo));
    await bench.installed("p");
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "get", "patch")]);
    await untilAllowed(bench, { verb: "delete", resource: "secrets" }, false);
    await deleted(bench, "p");
    for (const name of ["first", "beside", "last"])
      expect(await bench.client.find(configMaps, { namespace, name }), name).toBeUndefined();
    const { metadata } = await bench.client.get(secrets, { namespace, name: "kept" });
    expect(metadata.labels ?? {}).toEqual({});
    const reported = await eventually(
      async () => (await bench.events("p")).find(({ reason }) => reason === "Orphaned")?.note,
    );
    expect(reported).toContain("kept");
    expect(reported).not.toContain("first");
  });

  test("[install-plan/106] what may not even lose its marks does not hold up the rest", async () => {
    await using bench = await setUpWorkbench({ rules: [] });
    const { namespace } = bench;
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "*")]);
    const stages = [configMap("before"), secret("kept"), configMap("after")].map((resource, index) => ({
      name: `stage-${index}`,
      resources: [resource],
    }));
    await bench.create(bench.plan("p", stages, lettingGo));
    await bench.installed("p");
    await grant(bench, [coreRule("configmaps", "*"), coreRule("secrets", "get")]);
    await untilAllowed(bench, { verb: "delete", resource: "secrets" }, false);
    await deleted(bench, "p");
    for (const name of ["before", "after"])
      expect(await bench.client.find(configMaps, { namespace, name }), name).toBeUndefined();
    expect(await bench.client.find(secrets, { namespace, name: "kept" })).toBeDefined();
  });

  test("[install-plan/106] [install-plan/108] a definition does not take along the objects that had to stay", async () => {
    await using bench = await setUpWorkbench({
      rules: [],
      clusterRules: [
        { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["*"] },
      ],
    });
    const { namespace } = bench;
    const kind = widgets(`${namespace}.example.org`);
    bench.use(removing(bench.client, crds, { name: kind.name }));
    const rule = { apiGroups: [kind.group], resources: ["widgets"] };
    await grant(bench, [{ ...rule, verbs: ["*"] }, coreRule("configmaps", "*")]);
    const resources = [inline(kind.object), inline(widget(kind, "kept")), configMap("goes")];
    await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster", ...lettingGo }));
    await bench.installed("p");
    await grant(bench, [{ ...rule, verbs: ["get"] }, coreRule("configmaps", "*")]);
    await untilAllowed(bench, { verb: "delete", group: kind.group, resource: "widgets" }, false);
    await deleted(bench, "p");
    expect(await bench.client.find(configMaps, { namespace, name: "goes" })).toBeUndefined();
    expect(await bench.client.find(kind.kind, { namespace, name: "kept" })).toBeDefined();
  });
});
