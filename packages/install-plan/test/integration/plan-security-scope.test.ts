import { aConfigMap, eventually, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { coreRule } from "../support/grants.ts";
import { configMaps } from "../support/kinds.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap, inline } from "../support/manifests.ts";
import { allPermissions, setUpWorkbench } from "../support/workbench.ts";

const canary = "canary-7f3a";
const toNew = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };
const stages = [{ name: "s", resources: [configMap("new")] }];

/** A plan's transformation of everything that the selection says. */
function selecting(from: object): object {
  return { transformations: [{ name: "t", from: { apiVersion: "v1", ...from }, to: toNew }] };
}

describe("a plan of scope Namespace", () => {
  test("[security/89] reaches nothing elsewhere, by an empty namespace or any other field", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const { client, namespace, account } = bench;
    await using elsewhere = await makeNamespace(bench.api, "elsewhere");
    const usesInstaller = { ...coreRule("serviceaccounts", "impersonate"), resourceNames: [account] };
    const mallory = await letMalloryIn(bench, { rules: [usesInstaller] });
    const labels = { app: "old" };
    for (const location of [namespace, elsewhere.name])
      await client.create(configMaps, aConfigMap({ name: canary, namespace: location, labels }));
    const from = { kind: "ConfigMap", labelSelector: "app=old", allowUnowned: true };
    await mallory.create(bench.plan("empty", stages, selecting({ ...from, namespace: "" })));
    await bench.installed("empty");
    await eventually(async () => (await client.find(configMaps, { namespace, name: canary })) === undefined);
    const victim = await client.get(configMaps, { namespace: elsewhere.name, name: canary });
    expect(victim.metadata.deletionTimestamp).toBeUndefined();
    const outside = inline(aConfigMap({ name: "c", namespace: elsewhere.name }));
    const plans = [
      bench.plan("named", stages, selecting({ ...from, namespace: elsewhere.name })),
      bench.plan("wide", stages, selecting({ ...from, kind: "Namespace" })),
      bench.plan("member", [{ name: "s", resources: [outside] }]),
    ];
    for (const plan of plans) {
      await mallory.create(plan);
      await bench.inPhase(plan.metadata.name, "Invalid");
    }
    await bystanderInstalls(bench);
    expect(await client.find(configMaps, { namespace: elsewhere.name, name: "c" })).toBeUndefined();
  });
});
