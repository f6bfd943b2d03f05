import { installPlan, type InstallPlan } from "@quartermaster/api";
import { classify, defineKind, type Kind } from "@quartermaster/runtime";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { widget, widgets } from "../support/definitions.ts";
import { crds } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, configMaps, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const apiServices: Kind = defineKind({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  scope: "Cluster",
});

/** Has the group served by a Service that is nowhere, as an aggregated API whose pods are down. */
async function takeDown({ client, namespace }: Workbench, group: string, kind: Kind): Promise<void> {
  const body = {
    metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": null } },
    spec: { service: { namespace, name: "nowhere" }, insecureSkipTLSVerify: true },
  };
  await client.patch(apiServices, { name: `v1.${group}` }, { patch: { kind: "merge", body } });
  await eventually(async () => {
    try {
      await client.listPage(kind, { namespace });
      return false;
    } catch (error) {
      return classify(error) === "transient";
    }
  });
}

describe("a plan is deleted while an aggregated API is down", () => {
  test.for([
    { name: "the operator runs", isRestarted: false },
    { name: "the operator starts meanwhile", isRestarted: true },
  ])("objects of that API do not count as gone: $name", async ({ isRestarted }) => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions], isOperating: false });
    const manager = await bench.operate();
    const { namespace } = bench;
    const kind = widgets(`${namespace}.example.org`);
    bench.use(removing(bench.client, crds, { name: kind.name }));
    await bench.client.create(crds, kind.object);
    const stages = [
      { name: "a", resources: [configMap("earlier")] },
      { name: "b", resources: [inline(widget(kind, "hidden")), configMap("beside")] },
    ];
    await bench.create(bench.plan("p", stages));
    await bench.installed("p");
    if (isRestarted) await manager[Symbol.asyncDispose]();
    await takeDown(bench, kind.group, kind.kind);
    await bench.deletePlan("p");
    if (isRestarted) await bench.operate();
    await eventually(
      async () => (await bench.client.find(configMaps, { namespace, name: "beside" })) === undefined,
    );
    const isReported = ({ message = "" }: NonNullable<InstallPlan["status"]>): boolean =>
      message.includes("hidden");
    if (isRestarted) await bench.until("p", isReported);
    expect(await bench.client.find(configMaps, { namespace, name: "earlier" })).toBeDefined();
    await bench.client.delete(apiServices, { name: `v1.${kind.group}` });
    await eventually(
      async (see) => {
        const found = await bench.client.find(installPlan.kind, { namespace, name: "p" });
        see(found?.status);
        return found === undefined;
      },
      { withinMs: 60_000 },
    );
    expect(await bench.client.find(kind.kind, { namespace, name: "hidden" })).toBeUndefined();
  });
});
