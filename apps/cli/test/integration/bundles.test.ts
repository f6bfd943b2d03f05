import { existsSync } from "node:fs";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";
import { joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { planPath, readObject } from "../support/cluster.ts";
import { type } from "../support/user.ts";

const cluster = joinSharedCluster();
const shared = join(import.meta.dirname, "../../../../../shared/fixtures");
const bundles = join(realSystem().env["QM_FIXTURES"] ?? shared, "bundles");

afterAll(() => cluster[Symbol.dispose]());

interface StoredPlan {
  readonly spec: { readonly stages: readonly { readonly resources: readonly object[] }[] };
}

describe.skipIf(!existsSync(bundles))("bundles of others (fixtures not present: skipped)", () => {
  test.each([
    { file: "kube-prometheus.yaml", count: 131, manifests: 118 },
    { file: "argo-cd.yaml", count: 59, manifests: 8 },
    { file: "metallb-native.yaml", count: 26, manifests: 0 },
  ])(
    "$file is taken by the API server, with everything that the plan refers to",
    async ({ file, count, manifests }) => {
      await using namespace = await makeNamespace(cluster.api, "cli-bundle");
      const args = ["pack", join(bundles, file), "--name", "bundle", "--apply", "-n", namespace.name];
      const { code, err } = await type(args, { env: { KUBECONFIG: cluster.kubeconfigPath } });
      expect({ code, errors: err.split("\n").filter((line) => line.startsWith("error")) }).toEqual({
        code: 0,
        errors: [],
      });
      const plan = await readObject<StoredPlan>(cluster, planPath(namespace.name, "bundle"));
      expect(plan?.spec.stages.flatMap(({ resources }) => resources)).toHaveLength(count);
      const location = `/apis/install.quartermaster.dev/v1alpha1/namespaces/${namespace.name}/resourcemanifests`;
      const list = await readObject<{ items: readonly object[] }>(cluster, location);
      expect(list?.items).toHaveLength(manifests);
      const isSmall = manifests === 0 || JSON.stringify(plan?.spec).length < 64 * 1_024;
      expect(isSmall).toBe(true);
    },
  );
});
