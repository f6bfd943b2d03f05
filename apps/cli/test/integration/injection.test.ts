import { joinSharedCluster, makeNamespace, type TestNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type, type Output } from "../support/user.ts";

const cluster = joinSharedCluster();
const group = "subscription.openshift.io";
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-bundles");
  const bundle = {
    apiVersion: `${group}/v1alpha1`,
    kind: "Bundle",
    metadata: { name: "subscription", namespace: namespace.name },
    spec: { entitlements: [{ name: "one" }] },
  };
  await cluster.api.apply(
    `/apis/${group}/v1alpha1/namespaces/${namespace.name}/bundles/subscription`,
    bundle,
  );
});

afterAll(async () => {
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

async function qm(args: readonly string[], input = ""): Promise<Output> {
  return await type([...args, "-n", namespace.name], { env: { KUBECONFIG: cluster.kubeconfigPath }, input });
}

const pod = {
  metadata: { annotations: { [`${group}/inject-bundle`]: "subscription" } },
  spec: { containers: [{ name: "main", image: "none" }] },
};
const deployment = JSON.stringify({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "shop" },
  spec: { template: pod },
});

describe("qm bundle", () => {
  test("explain says why a pod would be rejected, and what it gets once the Secret exists", async () => {
    const before = await qm(["bundle", "explain", "-f", "-"], deployment);
    expect(before.code).toBe(1);
    expect(before.out).toContain(`Deployment shop in namespace ${namespace.name}: would be rejected`);
    expect(before.out).toContain('ReferenceNotFound: Secret "one"');
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "one" },
      stringData: { "a.pem": "value" },
    };
    await cluster.api.apply(`/api/v1/namespaces/${namespace.name}/secrets/one`, secret);
    const after = await qm(["bundle", "explain", "-f", "-"], deployment);
    expect(after.code).toBe(0);
    expect(after.out).toContain("gets its bundles");
    expect(after.out).toContain("/run/secrets/etc-pki-entitlement");
    expect(after.out).not.toContain("value\n");
  });

  test("explain decides by the settings of a file, or by those of the operator", async () => {
    const mixed = JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "mixed",
        annotations: {
          [`${group}/inject-bundle`]: "subscription",
          [`${group}/inject-cluster-bundle`]: "absent",
        },
      },
      spec: pod.spec,
    });
    const location = ["--operator-namespace", namespace.name];
    const before = await qm(["bundle", "explain", "-f", "-", ...location], mixed);
    expect(before.err).toContain("the defaults are assumed");
    expect(before.out).not.toContain("MixedScopes");
    await cluster.api.apply(`/api/v1/namespaces/${namespace.name}/configmaps/quartermaster-subscription`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "quartermaster-subscription" },
      data: { "subscription.json": '{"mixedScopes":"Reject"}' },
    });
    const after = await qm(["bundle", "explain", "-f", "-", ...location], mixed);
    expect({ err: after.err, isMixed: after.out.includes("MixedScopes") }).toEqual({
      err: "",
      isMixed: true,
    });
  });

  test("[first-use/14] explain warns about a misspelled annotation, and about one on the Deployment", async () => {
    const workload = JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "shop", annotations: { [`${group}/inject-bundle`]: "subscription" } },
      spec: {
        template: { metadata: { annotations: { [`${group}/inject-clusterbundle`]: "x" } }, spec: pod.spec },
      },
    });
    const { out } = await qm(["bundle", "explain", "-f", "-"], workload);
    expect(out).toContain(`did you mean ${group}/inject-cluster-bundle?`);
    expect(out).toContain(`annotation ${group}/inject-bundle has no effect here; set it on the pod template`);
  });

  test("explain requests a file with one pod", async () => {
    expect(await qm(["bundle", "explain"])).toMatchObject({ code: 2 });
    expect(await qm(["bundle", "explain", "-f", "-"], '{"apiVersion":"v1","kind":"Service"}')).toMatchObject({
      code: 4,
    });
    expect(await qm(["bundle", "explain", "-f", "-"], `${deployment}\n---\n${deployment}`)).toMatchObject({
      code: 1,
    });
  });

  test("[first-use/9] status shows each bundle with its problems, also those of the operator itself", async () => {
    const path = `/apis/${group}/v1alpha1/namespaces/${namespace.name}/bundles/subscription`;
    const at = { lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 };
    const problem = { reason: "ReferenceNotFound", message: "Secret one does not exist." };
    const conditions = [
      { type: "Ready", status: "False", ...problem, ...at },
      { type: "Invalid", status: "True", ...problem, ...at },
    ];
    await cluster.api.send({
      method: "PATCH",
      path: `${path}/status`,
      body: { status: { observedGeneration: 1, conditions } },
      contentType: "application/merge-patch+json",
    });
    const { code, out } = await qm(["bundle", "status"]);
    expect(code).toBe(3);
    expect(out).toContain(
      "Bundle subscription  not ready\n  Invalid: ReferenceNotFound: Secret one does not exist.",
    );
    const missing = { reason: "GrantForbidden", message: "Apply optional/subscription.yaml." };
    const refused = [{ type: "Ready", status: "False", ...missing, ...at }];
    await cluster.api.send({
      method: "PATCH",
      path: `${path}/status`,
      body: { status: { observedGeneration: 1, conditions: refused } },
      contentType: "application/merge-patch+json",
    });
    expect((await qm(["bundle", "status"])).out).toContain(
      "Bundle subscription  not ready\n  Ready: GrantForbidden: Apply optional/subscription.yaml.",
    );
    await cluster.api.send({
      method: "PATCH",
      path: `${path}/status`,
      body: { status: null },
      contentType: "application/merge-patch+json",
    });
    expect((await qm(["bundle", "status"])).out).toContain("No operator has reported on it.");
  });
});
