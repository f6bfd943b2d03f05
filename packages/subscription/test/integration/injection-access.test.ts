import { eventually, WRITING_VERBS } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type HttpResponse, type InjectionBench, startInjection } from "../support/replica.ts";

let bench: InjectionBench;
/** ClusterBundles of this file; their Shares are written down as the controller does. */
let [one, two, clashing, invalid, unready] = ["", "", "", "", ""];

const generations = "subscription.openshift.io/bundle-generations";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

async function makeBundle(name: string, secret: string): Promise<void> {
  const ref = { name: secret, namespace: bench.namespace };
  const shares = [{ name: `${name}-subscription-entitlement`, ref: { kind: "Secret", ...ref } }];
  await bench.clusterBundle(name, { entitlements: [ref] }, { shares });
}

beforeAll(async () => {
  bench = await startInjection();
  [one = "", two = "", clashing = "", invalid = "", unready = ""] = ["a", "b", "c", "d", "e"].map(
    (suffix) => `${bench.unique}-${suffix}`,
  );
  await bench.secret("s1", "a.pem");
  await bench.secret("s2", "b.pem");
  await bench.secret("s3", "a.pem");
  await makeBundle(one, "s1");
  await makeBundle(two, "s2");
  await makeBundle(clashing, "s3");
  const entitlements = [{ name: "s1", namespace: bench.namespace }];
  const condition = {
    type: "Invalid",
    status: "True",
    reason: "ReferenceNotFound",
    message: "Secret kube-system/hidden not found",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await bench.clusterBundle(invalid, { entitlements }, { conditions: [condition] });
  await bench.clusterBundle(unready, { entitlements });
  for (const name of ["builder", "grouped", "second"])
    await bench.cluster.api.apply(`/api/v1/namespaces/${bench.namespace}/serviceaccounts/${name}`, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name },
    });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

/** Lets a subject use Shares of bundles, as the ClusterRole of a bundle does. */
function useOf(bundles: readonly string[]): object {
  return {
    apiGroups: ["projectedresource.storage.openshift.io"],
    resources: ["shares"],
    resourceNames: bundles.map((name) => `${name}-subscription-entitlement`),
    verbs: ["use"],
  };
}

/** Lets a subject get the bundles, by a RoleBinding in the namespace. */
async function grant(
  name: string,
  subject: object,
  {
    bundles: resourceNames,
    more = [],
  }: { readonly bundles: readonly string[]; readonly more?: readonly object[] },
): Promise<void> {
  const role = `${bench.unique}-${name}`;
  await bench.cluster.api.apply(`${rbac}/clusterroles/${role}`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: role },
    rules: [
      {
        apiGroups: ["subscription.openshift.io"],
        resources: ["clusterbundles"],
        resourceNames,
        verbs: ["get"],
      },
      ...more,
    ],
  });
  await bench.cluster.api.apply(`${rbac}/namespaces/${bench.namespace}/rolebindings/${role}`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: role },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [subject],
  });
}

async function podOf(names: string, serviceAccountName?: string): Promise<HttpResponse> {
  const spec = serviceAccountName === undefined ? {} : { serviceAccountName };
  return await bench.pod("pod", { annotations: { "inject-cluster-bundle": names }, spec, dryRun: true });
}

/** The change of a binding empties the cache as soon as its event arrives. */
async function injectedSoon(names: string, account?: string): Promise<HttpResponse> {
  return await eventually(
    async (see) => {
      const response = see(await podOf(names, account));
      return response.status === 201 ? response : undefined;
    },
    { withinMs: 10_000 },
  );
}

describe("ClusterBundles and permissions", () => {
  test("[subscription-injection/AC-B3,AC-B5] without permission one text for present and absent bundles", async () => {
    const present = await podOf(one);
    expect(present.status).toBe(403);
    expect(present.object.message).toContain(
      `AccessDenied: ClusterBundle "${one}" not found or not permitted for service account "default" in "${bench.namespace}"`,
    );
    const absent = await podOf(`${bench.unique}-absent`);
    expect(absent.object.message).toBe(present.object.message?.replaceAll(one, `${bench.unique}-absent`));
  });

  test("[subscription-injection/AC-B1,AC-B6,AC-B8] a RoleBinding of the namespace suffices; no account means default", async () => {
    const subject = { kind: "ServiceAccount", name: "default", namespace: bench.namespace };
    await grant("default", subject, {
      bundles: [one, clashing, invalid, unready, `${bench.unique}-absent`],
    });
    const { object } = await injectedSoon(one);
    expect(object.spec?.volumes).toContainEqual({
      name: "etc-pki-entitlement",
      csi: {
        driver: "projected-resource.storage.openshift.io",
        readOnly: true,
        volumeAttributes: { sources: `[{"share":{"name":"${one}-subscription-entitlement"}}]` },
      },
    });
    expect(object.metadata?.annotations?.[generations]).toBe(`{"clusterBundles":{"${one}":1}}`);
  });

  test("[subscription-injection/AC-B7] a binding to the group of the namespace's accounts suffices", async () => {
    expect((await podOf(two, "grouped")).status).toBe(403);
    const name = `system:serviceaccounts:${bench.namespace}`;
    await grant("group", { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name }, { bundles: [two] });
    expect((await injectedSoon(two, "grouped")).status).toBe(201);
  });

  test("[subscription-injection/AC-B9] the access of the account that the pod names is reviewed", async () => {
    expect((await podOf(one, "builder")).object.message).toContain('service account "builder"');
    const subject = { kind: "ServiceAccount", name: "builder", namespace: bench.namespace };
    await grant("builder", subject, { bundles: [one] });
    expect((await injectedSoon(one, "builder")).status).toBe(201);
    expect((await podOf(one, "second")).status).toBe(403);
  });

  test("[security/41] a binding that is deleted counts no longer than its event takes", async () => {
    const subject = { kind: "ServiceAccount", name: "second", namespace: bench.namespace };
    await grant("second", subject, { bundles: [clashing] });
    await injectedSoon(clashing, "second");
    await bench.send("DELETE", `${rbac}/namespaces/${bench.namespace}/rolebindings/${bench.unique}-second`);
    // A response that allows would hold for 10 s.
    await eventually(async (see) => see(await podOf(clashing, "second")).status === 403, { withinMs: 5_000 });
  });

  test("[subscription-injection/AC-B2] two bundles share one volume", async () => {
    const { object } = await injectedSoon(`${one},${two}`);
    expect(JSON.stringify(object.spec?.volumes)).toContain(`${two}-subscription-entitlement`);
  });

  test("[subscription-injection/AC-B4,AC-B11,AC-B12,AC-B13] what a permitted account is told names no Secret", async () => {
    const reported = async (names: string): Promise<string> => {
      const { status, object } = await podOf(names);
      expect(status).toBe(403);
      return object.message ?? "";
    };
    expect(await reported(`${bench.unique}-absent`)).toContain("ClusterBundleNotFound");
    const conflict = await reported(`${one},${clashing}`);
    expect(conflict).toContain(`key "a.pem" is provided by cluster bundles "${one}" and "${clashing}"`);
    expect(conflict).not.toMatch(/"s[13]"/);
    const broken = await reported(invalid);
    expect(broken).toContain("BundleInvalid");
    expect(broken).not.toContain("hidden");
    expect(await reported(unready)).toContain("BundleNotReady");
  });

  test("[subscription-injection/AC-C12] [security/122] a labelled bundle that the account may not get, or not use, is skipped", async () => {
    const subject = { kind: "ServiceAccount", name: "default", namespace: bench.namespace };
    await grant("user", subject, { bundles: [one], more: [useOf([one])] });
    const reader = { kind: "ServiceAccount", name: "builder", namespace: bench.namespace };
    await grant("reader", reader, { bundles: [one] });
    const label = { "subscription.openshift.io/always-inject": "true" };
    await bench.cluster.api.send({
      method: "PATCH",
      path: `/apis/subscription.openshift.io/v1alpha1/clusterbundles/${one}`,
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: label } },
    });
    await eventually(
      async (see) => {
        const { object } = see(await bench.pod("auto", { dryRun: true }));
        return object.metadata?.annotations?.[generations] !== undefined;
      },
      { withinMs: 30_000 },
    );
    // The share driver would refuse the volume of an account that may get the bundle but not use its Share.
    for (const serviceAccountName of ["second", "builder"]) {
      const { status, object } = await bench.pod("auto", { spec: { serviceAccountName }, dryRun: true });
      expect(status, object.message).toBe(201);
      expect(object.metadata?.annotations?.[generations], serviceAccountName).toBeUndefined();
    }
  });

  test("[subscription-injection/AC-G2] 1,000 pods of one account cost few access reviews, and no Secret is listed", async () => {
    const position = await bench.cluster.audit.position();
    // Empties the cache, which may still hold what the test before asked.
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "unrelated" },
      rules: [],
    };
    await bench.send("POST", `${rbac}/namespaces/${bench.namespace}/roles`, role);
    for (let round = 0; round < 50; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, async () => await podOf(one, "builder")),
      );
      expect(responses.every(({ status }) => status === 201)).toBe(true);
    }
    const all = await bench.cluster.audit.since(position, {});
    // Tests in other files change permissions too, and each change empties the cache.
    const changes = all.filter(
      ({ resource, verb }) => /roles$|rolebindings$/.test(resource) && WRITING_VERBS.includes(verb),
    );
    const entries = all.filter(({ user }) => user === bench.operator);
    const reviews = entries.filter(({ resource }) => resource === "subjectaccessreviews");
    expect(reviews.length).toBeGreaterThan(0);
    // A namespace that ends takes several Roles away by one request.
    const events = changes.reduce((sum, { verb }) => sum + (verb === "deletecollection" ? 20 : 1), 0);
    expect(reviews.length).toBeLessThanOrEqual(5 + events);
    const ofSecrets = entries.filter(({ resource }) => resource === "secrets");
    expect(ofSecrets.filter(({ verb }) => verb !== "get" && verb !== "watch")).toEqual([]);
    const watches = ofSecrets.filter(({ verb }) => verb === "watch");
    expect(watches.filter(({ path }) => !path.includes("fieldSelector=metadata.name"))).toEqual([]);
  });

  test("[subscription-injection/AC-B10] when access cannot be reviewed, named bundles fail and labelled ones are skipped", async () => {
    const path = `${rbac}/clusterroles/${bench.operatorRole}`;
    const { rules } = (await bench.send("GET", path)).object as unknown as {
      rules: readonly { resources: readonly string[] }[];
    };
    const kept = rules.filter(({ resources }) => !resources.includes("subjectaccessreviews"));
    await bench.cluster.api.send({
      method: "PATCH",
      path,
      contentType: "application/json-patch+json",
      body: [{ op: "replace", path: "/rules", value: kept }],
    });
    const failed = await eventually(
      async (see) => {
        const response = see(await podOf(one, "builder"));
        return response.status === 201 ? undefined : response;
      },
      { withinMs: 15_000 },
    );
    expect(failed.status).toBe(500);
    expect(failed.object.message).toContain("failed calling webhook");
    expect(failed.object.message).not.toContain("denied the request");
    const { status, object } = await bench.pod("auto", { dryRun: true });
    expect(status, object.message).toBe(201);
    expect(object.metadata?.annotations?.[generations]).toBeUndefined();
  });
});
