import type { InstallPlan } from "@quartermaster/api";
import { aConfigMap, eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { coreRule } from "../support/grants.ts";
import { configMaps, namespaces, roles } from "../support/kinds.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const canary = "canary-7f3a";

/** Everything that people can read of a plan, except for what its author wrote. */
async function shown(bench: Workbench, { metadata, status }: InstallPlan): Promise<string> {
  return JSON.stringify([status, await bench.events(metadata.name)]);
}

describe("what the account may not read is not shown", () => {
  test("[security/98] neither the rules of a Role nor the owner of an object reach a powerless account's plan", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    const mallory = await letMalloryIn(bench);
    const apiGroup = "rbac.authorization.k8s.io";
    const rules = [{ apiGroups: [""], resources: ["secrets"], resourceNames: [canary], verbs: ["get"] }];
    const metadata = { name: "powers", namespace };
    await client.create(roles, { apiVersion: `${apiGroup}/v1`, kind: "Role", metadata, rules } as never);
    const binding = {
      apiVersion: `${apiGroup}/v1`,
      kind: "RoleBinding",
      metadata: { name: "b" },
      roleRef: { apiGroup, kind: "Role", name: "powers" },
      subjects: [{ kind: "ServiceAccount", name: mallory.account, namespace }],
    };
    await bench.create(bench.plan(canary, [{ name: "s", resources: [configMap("owned")] }]));
    await bench.installed(canary);
    const attacks = { rules: inline(binding), owner: configMap("owned") };
    for (const [name, resource] of Object.entries(attacks)) {
      await mallory.create(mallory.plan(name, [{ name: "s", resources: [resource] }]));
      const plan = await bench.until(name, ({ phase }) => phase === "Forbidden" || phase === "Invalid");
      expect(plan.status?.phase).toBe("Forbidden");
      expect(await shown(bench, plan)).not.toContain(canary);
    }
    await bystanderInstalls(bench);
  });

  test("[security/98] a powerless account is not told which namespaces there are", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    const found: unknown[] = [];
    for (const [name, namespace] of Object.entries({ there: "default", absent: canary })) {
      const resources = [inline(aConfigMap({ name: "c", namespace }))];
      await mallory.create(mallory.plan(name, [{ name: "s", resources }], { scope: "Cluster" }));
      const { status } = await bench.until(name, ({ phase }) => phase === "Forbidden" || phase === "Invalid");
      const { phase, message, details, conditions = [] } = status ?? {};
      const reported = conditions.map(({ type, reason, message: text }) => [type, reason, text]);
      found.push(JSON.parse(JSON.stringify([phase, message, details, reported]).replaceAll(namespace, "X")));
    }
    expect(found[0]).toEqual(found[1]);
    await bystanderInstalls(bench);
  });

  test("[security/98] a namespace that is kept does not tell the names of what others have in it", async () => {
    const owns = ["create", "get", "patch", "delete"];
    await using bench = await setUpWorkbench({
      rules: [coreRule("configmaps", "*")],
      clusterRules: [coreRule("namespaces", ...owns)],
    });
    const { client } = bench;
    const name = `${bench.namespace}-inner`;
    bench.use(removing(client, namespaces, { name }));
    const resources = [inline({ apiVersion: "v1", kind: "Namespace", metadata: { name } })];
    await bench.create(bench.plan("p", [{ name: "s", resources }], { scope: "Cluster" }));
    await bench.installed("p");
    await client.create(configMaps, aConfigMap({ name: canary, namespace: name }));
    await bench.deletePlan("p");
    const reported = await eventually(async () =>
      (await bench.events("p")).find(({ reason }) => reason === "Protected"),
    );
    expect(reported.note).toContain(`Namespace ${name} is kept`);
    expect(JSON.stringify(await bench.events("p"))).not.toContain(canary);
    await bystanderInstalls(bench);
  });
});
