import { joinSharedCluster, makeNamespace, eventually } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

const cluster = joinSharedCluster();
afterAll(() => cluster[Symbol.dispose]());

interface HttpResponse {
  readonly status: number;
  readonly message: string;
  readonly object: { readonly apiVersion?: string; readonly metadata?: { readonly name?: string } };
}

/** A dry run validates and defaults like a real one and leaves nothing behind. */
async function dryRun(version: string, location: string, object: object): Promise<HttpResponse> {
  const path = `/apis/subscription.openshift.io/${version}/${location}?fieldValidation=Strict&dryRun=All`;
  const { status, body } = await cluster.api.send({ method: "POST", path, body: object });
  const response = JSON.parse(body) as HttpResponse["object"] & { readonly message?: string };
  return { status, message: response.message ?? "", object: response };
}

const aClusterBundle = (name: string, spec: object): object => ({
  apiVersion: "subscription.openshift.io/v1alpha1",
  kind: "ClusterBundle",
  metadata: { name },
  spec,
});

const entitlement = { name: "etc-pki-entitlement", namespace: "openshift-config" };

describe("the definitions of bundles", () => {
  test.each(["v1", "v1beta1", "v1alpha1"])(
    "[subscription-injection/AC-A24] the samples of the enhancement apply as %s",
    async (version) => {
      await using namespace = await makeNamespace(cluster.api);
      const clusterWide = await dryRun(version, "clusterbundles", {
        apiVersion: `subscription.openshift.io/${version}`,
        kind: "ClusterBundle",
        metadata: { name: "cluster" },
        spec: { aggregateToClusterRoles: ["edit", "admin"], entitlements: [entitlement] },
      });
      expect(clusterWide.status, clusterWide.message).toBe(201);
      const namespaced = await dryRun(version, `namespaces/${namespace.name}/bundles`, {
        apiVersion: `subscription.openshift.io/${version}`,
        kind: "Bundle",
        metadata: { name: "subscription" },
        spec: { entitlements: [{ name: "etc-pki-entitlement" }] },
      });
      expect(namespaced.status, namespaced.message).toBe(201);
      expect(namespaced.object.apiVersion).toBe(`subscription.openshift.io/${version}`);
    },
  );

  test("[subscription-injection/AC-A24] an object written as v1 is read as v1alpha1 and stays the same", async () => {
    await using namespace = await makeNamespace(cluster.api);
    const location = `namespaces/${namespace.name}/bundles`;
    const spec = { entitlements: [{ name: "one", prefix: "one-" }], defaultMode: 0o440 };
    await eventually(async (see) => {
      const { status } = see(
        await cluster.api.send({
          method: "POST",
          path: `/apis/subscription.openshift.io/v1/${location}`,
          body: {
            apiVersion: "subscription.openshift.io/v1",
            kind: "Bundle",
            metadata: { name: "subscription" },
            spec,
          },
        }),
      );
      return status === 201;
    });
    const { body } = await cluster.api.send({
      path: `/apis/subscription.openshift.io/v1alpha1/${location}/subscription`,
    });
    expect(JSON.parse(body)).toMatchObject({ apiVersion: "subscription.openshift.io/v1alpha1", spec });
  });

  test.each([
    {
      case: "a reserved name",
      name: "openshift-x",
      spec: { entitlements: [entitlement] },
      says: "openshift",
    },
    {
      case: "a name whose Shares would not fit",
      name: "x".repeat(201),
      spec: { entitlements: [entitlement] },
      says: "at most 200 characters",
    },
    { case: "no reference at all", name: "empty", spec: { entitlements: [] }, says: "must not be empty" },
    {
      case: "a reference without namespace",
      name: "lost",
      spec: { entitlements: [{ name: "etc-pki-entitlement" }] },
      says: "spec.entitlements[0].namespace",
    },
    {
      case: "a reference named twice",
      name: "twice",
      spec: { entitlements: [entitlement, entitlement] },
      says: "Duplicate value",
    },
    {
      case: "items together with a prefix",
      name: "both",
      spec: { entitlements: [{ ...entitlement, prefix: "a-", items: [{ key: "a", path: "b" }] }] },
      says: "items and prefix exclude each other",
    },
    {
      case: "a file name that leaves its directory",
      name: "climbing",
      spec: { entitlements: [{ ...entitlement, items: [{ key: "a", path: "..b" }] }] },
      says: "must not be '.' or start with '..'",
    },
  ])("[subscription-injection/AC-F11] refuses a ClusterBundle with $case", async ({ name, spec, says }) => {
    const { status, message } = await dryRun("v1alpha1", "clusterbundles", aClusterBundle(name, spec));
    expect(status).toBe(422);
    expect(message).toContain(says);
  });
});
