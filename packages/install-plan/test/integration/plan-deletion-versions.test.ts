import { installPlan } from "@quartermaster/api";
import { classify, defineKind, type Kind } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { crds } from "../support/kinds.ts";
import { inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

async function isServed({ client, namespace }: Workbench, kind: Kind): Promise<boolean> {
  try {
    await client.listPage(kind, { namespace });
    return true;
  } catch (error) {
    if (classify(error) !== "notFound") throw error;
    return false;
  }
}

describe("a plan is deleted and the versions of its objects are no longer what they were", () => {
  test.for([
    { name: "while the operator runs", isRestarted: false },
    { name: "while no operator runs", isRestarted: true },
  ])(
    "an object whose version went is deleted by another version of its kind, $name",
    async ({ isRestarted }) => {
      await using bench = await setUpWorkbench({ clusterRules: [allPermissions], isOperating: false });
      const manager = await bench.operate();
      const { namespace } = bench;
      const versions = [{ name: "v1" }, { name: "v2", isStored: true }];
      const kind = widgets(`${namespace}.example.org`, versions);
      bench.use(removing(bench.client, crds, { name: kind.name }));
      await bench.client.create(crds, kind.object);
      await bench.create(bench.plan("p", [{ name: "s", resources: [inline(widget(kind, "old"))] }]));
      await bench.installed("p");
      if (isRestarted) await manager[Symbol.asyncDispose]();
      const unserved = widgets(kind.group, [{ name: "v1", isServed: false }, versions[1] ?? { name: "v2" }]);
      await bench.client.apply(crds, unserved.object, { fieldManager: "tests", force: true });
      await eventually(async () => !(await isServed(bench, defineKind({ ...kind.kind, version: "v1" }))));
      await bench.deletePlan("p");
      if (isRestarted) await bench.operate();
      await eventually(
        async () => (await bench.client.find(installPlan.kind, { namespace, name: "p" })) === undefined,
      );
      expect(await bench.client.find(kind.kind, { namespace, name: "old" })).toBeUndefined();
    },
  );
});
