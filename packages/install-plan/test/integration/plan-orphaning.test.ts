import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule, grant } from "../support/grants.ts";
import { configMap } from "../support/manifests.ts";
import { configMaps, setUpWorkbench } from "../support/workbench.ts";

describe("a plan is deleted and its objects are to stay", () => {
  test("[install-plan/110] they stay although the word for it is gone before the work is done", async () => {
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
      // The server's own caches of rights are a moment behind.
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
});
