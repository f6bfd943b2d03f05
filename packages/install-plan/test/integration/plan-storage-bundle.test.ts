import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { pack, type Packed, type PackedPlan, readYaml } from "../../src/pack/index.ts";
import { clusterRoleBindings } from "../support/kinds.ts";
import { administration } from "../support/own-cluster.ts";
import { removing } from "../support/removing.ts";
import { createPacked } from "../support/stored.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const repository = join(import.meta.dirname, "../../../..");
const bundle = join(
  realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"),
  "bundles/kube-prometheus.yaml",
);

describe.skipIf(!existsSync(bundle))("a bundle of others (fixtures not present: skipped)", () => {
  test("[install-plan/17] the 131 objects of kube-prometheus are installed by a small plan", async () => {
    await using bench = await setUpWorkbench();
    bench.use(await makeAdministrator(bench));
    const { documents } = readYaml(readFileSync(bundle, "utf8"));
    const packed = pack(
      documents.map(({ value, index }) => ({ value, source: `document ${index + 1}` })),
      { name: "monitoring", namespace: bench.namespace, serviceAccountName: bench.account },
    );
    expect(JSON.stringify(packed.manifests).length).toBeGreaterThan(3_700_000);
    bench.use(removingAll(bench, packed));
    await createPacked(bench, { ...packed, plan: ignoringAggregatedApis(packed.plan) });
    const plan = await bench.installed("monitoring", 100_000);
    expect(plan.status).toMatchObject({ phase: "Installed", counts: { total: 131, ready: 131 } });
    expect(plan.spec.stages.flatMap(({ resources = [] }) => resources)).toHaveLength(131);
    expect(JSON.stringify(plan).length).toBeLessThan(64 * 1024);
  });
});

/** No pod of this control plane answers requests, so that the API which one of them would serve stays unavailable. */
function ignoringAggregatedApis(plan: PackedPlan): PackedPlan {
  const stages = plan.spec.stages.map((stage) => ({
    ...stage,
    resources: stage.resources.map((resource) =>
      "manifestRef" in resource && resource.manifestRef.object.kind === "APIService"
        ? { ...resource, readiness: { mode: "Ignore" } }
        : resource,
    ),
  }));
  return { ...plan, spec: { ...plan.spec, stages } };
}

async function makeAdministrator({ client, namespace, account }: Workbench): Promise<AsyncDisposable> {
  const name = `${namespace}-administrator`;
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    ...administration({ namespace, name: account }),
  };
  await client.create(clusterRoleBindings, binding);
  return removing(client, clusterRoleBindings, { name });
}

/** What is not in a namespace of the test goes by hand: an API that never answers would trouble everybody else. */
function removingAll({ client }: Workbench, { plan }: Packed): AsyncDisposable {
  const identities = plan.spec.stages.flatMap(({ resources }) =>
    resources.flatMap((resource) => ("manifestRef" in resource ? [resource.manifestRef.object] : [])),
  );
  const plurals = new Map([
    ["APIService", "apiservices"],
    ["CustomResourceDefinition", "customresourcedefinitions"],
    ["ClusterRole", "clusterroles"],
    ["ClusterRoleBinding", "clusterrolebindings"],
    ["Namespace", "namespaces"],
  ]);
  return {
    [Symbol.asyncDispose]: async () => {
      for (const { apiVersion, kind, name } of identities) {
        const plural = plurals.get(kind);
        if (plural === undefined) continue;
        const [version = "", group = ""] = apiVersion.split("/").toReversed();
        await removing(client, { group, version, kind, plural, scope: "Cluster" }, { name })[
          Symbol.asyncDispose
        ]();
      }
    },
  };
}
