import { ALWAYS_INJECT_LABEL, bundle, clusterBundle } from "@quartermaster/api";
import { classify, type Client, type Kind, type KubeObject } from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";
import { connect, eventually, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { type BundleBench, setUpBench } from "../support/bench.ts";
import { enforcePolicy } from "../support/policy.ts";

const inject = "subscription.openshift.io/inject-bundle";
const generations = "subscription.openshift.io/bundle-generations";
const labelled = { [ALWAYS_INJECT_LABEL]: "true" };

/** What the server says; undefined when it accepts. */
async function refusalOf(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    if (!["forbidden", "invalid"].includes(classify(error)) || !(error instanceof Error)) throw error;
    return error.message;
  }
}

/** A policy is enforced shortly after it was created. */
async function refusedSoon(attempt: () => Promise<unknown>): Promise<string> {
  return await eventually(async () => await refusalOf(attempt));
}

const volume = { name: "etc-pki-entitlement", projected: { sources: [{ secret: { name: "one" } }] } };
const mount = { name: "etc-pki-entitlement", mountPath: "/run/secrets/etc-pki-entitlement" };

interface PodOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly volumes?: readonly object[];
  readonly mounts?: readonly (readonly object[])[];
  readonly dryRun?: boolean;
}

async function createPod(
  { client, namespace }: BundleBench,
  { annotations = {}, volumes = [], mounts = [[]], dryRun = true }: PodOptions,
): Promise<KubeObject> {
  const containers = mounts.map((volumeMounts, at) => ({ name: `c${at}`, image: "none", volumeMounts }));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace, annotations },
    spec: { automountServiceAccountToken: false, containers, volumes },
  };
  return await client.create(pods as never, pod as never, { dryRun });
}

const injected = { [inject]: "b", [generations]: '{"bundles":{"b":1}}' };

describe("pods that name a bundle", () => {
  test("[security/37] [security/36] are refused unless every container mounts it in the final state", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await enforcePolicy(bench, "subscription-injected-pods.yaml");
    expect(
      await refusedSoon(async () => await createPod(bench, { annotations: { [inject]: "b" } })),
    ).toContain("has no volume for it");
    const cases = [
      { name: "not annotated", pod: {} },
      { name: "only blanks", pod: { annotations: { [inject]: " , " } } },
      { name: "injected", pod: { annotations: injected, volumes: [volume], mounts: [[mount]] } },
      // The API server refuses it for another reason.
      {
        name: "mirror pod",
        pod: { annotations: { [inject]: "b", "kubernetes.io/config.mirror": "x" } },
      },
      {
        name: "a container without it",
        pod: { annotations: injected, volumes: [volume], mounts: [[mount], []] },
        says: "not every container mounts it",
      },
      {
        name: "an emptyDir under our name",
        pod: { annotations: injected, volumes: [{ name: volume.name, emptyDir: {} }], mounts: [[mount]] },
        says: "has no volume for it",
      },
    ];
    for (const { name, pod, says = "" } of cases) {
      const refusal = await refusalOf(async () => await createPod(bench, pod));
      expect(refusal?.includes("names a subscription bundle") ?? false, name).toBe(says !== "");
      expect(refusal ?? "", name).toContain(says);
    }
    await createPod(bench, { dryRun: false });
    const { client, namespace } = bench;
    const annotate = async (annotations: object): Promise<unknown> =>
      await client.patch(
        pods,
        { name: "p", namespace },
        { patch: { kind: "merge", body: { metadata: { annotations } } } },
      );
    expect(await refusalOf(async () => await annotate({ [inject]: "b" }))).toContain("has no volume for it");
    expect(await refusalOf(async () => await annotate({ other: "free" }))).toBeUndefined();
  });

  test("[security/32] the recorded generations cannot be changed, added or removed afterwards", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await enforcePolicy(bench, "subscription-generations.yaml");
    const { client, namespace } = bench;
    await createPod(bench, { annotations: { [generations]: '{"bundles":{"b":1}}' }, dryRun: false });
    const annotate = async (annotations: object): Promise<unknown> =>
      await client.patch(
        pods,
        { name: "p", namespace },
        { patch: { kind: "merge", body: { metadata: { annotations } } }, dryRun: true },
      );
    expect(await refusedSoon(async () => await annotate({ [generations]: '{"bundles":{"b":9}}' }))).toContain(
      "cannot be changed",
    );
    expect(await refusalOf(async () => await annotate({ [generations]: null }))).toContain(
      "cannot be changed",
    );
    expect(await refusalOf(async () => await annotate({ other: "free" }))).toBeUndefined();
  });
});

async function statusWriter(
  { cluster, namespace }: BundleBench,
  clusterVerbs: readonly string[],
): Promise<Tenant> {
  const apiGroups = ["subscription.openshift.io"];
  const resources = ["bundles", "bundles/status", "clusterbundles", "clusterbundles/status"];
  const request = {
    namespace,
    rules: [{ apiGroups, resources, verbs: ["*"] }],
    clusterRules: [{ apiGroups, resources, verbs: clusterVerbs }],
  };
  return connect(await makeIdentity(cluster.api, cluster.admin, request));
}

interface Tenant extends AsyncDisposable {
  readonly client: Client;
}

async function tenant({ cluster, namespace }: BundleBench, verbs: readonly string[]): Promise<Tenant> {
  const rules = [
    { apiGroups: ["subscription.openshift.io"], resources: ["bundles", "clusterbundles"], verbs },
  ];
  const isAnywhere = { clusterRules: rules };
  return connect(await makeIdentity(cluster.api, cluster.admin, { namespace, ...isAnywhere }));
}

describe("the status of bundles", () => {
  test.each([
    { kind: bundle.kind as Kind, isClusterWide: false },
    { kind: clusterBundle.kind as Kind, isClusterWide: true },
  ])("of a $kind.kind is written only with the verb operate", async ({ kind, isClusterWide }) => {
    await using bench = await setUpBench({ isOperating: false });
    const { namespace } = bench;
    const entitlements = [isClusterWide ? { name: "one", namespace } : { name: "one" }];
    const name = isClusterWide ? bench.named("status") : "status";
    if (isClusterWide) await bench.clusterBundle(name, { entitlements });
    else await bench.bundle(name, { entitlements });
    await enforcePolicy(bench, "subscription-status.yaml", isClusterWide ? "cluster" : "namespace");
    // Every verb in a namespace, and everything that writing needs in the cluster, does not make an operator.
    await using author = await statusWriter(bench, ["patch"]);
    await using operator = await statusWriter(bench, ["patch", "operate"]);
    const forge = async ({ client }: Tenant): Promise<unknown> =>
      await client.patch(kind, isClusterWide ? { name } : { name, namespace }, {
        patch: { kind: "merge", body: { status: { observedGeneration: 9 } } },
        subresource: "status",
      });
    expect(await refusedSoon(async () => await forge(author))).toContain("only the operator does");
    expect(await refusalOf(async () => await forge(operator))).toBeUndefined();
  });
});

describe("the label always-inject", () => {
  test("needs the verb autoinject, when it is set and when a labelled bundle changes", async () => {
    await using bench = await setUpBench({ isOperating: false });
    const { namespace } = bench;
    await enforcePolicy(bench, "subscription-always-inject.yaml");
    await using author = await tenant(bench, ["get", "create", "update", "patch"]);
    await using trusted = await tenant(bench, ["get", "create", "update", "patch", "autoinject"]);
    const object = (name: string, labels: object): never =>
      ({
        apiVersion: "subscription.openshift.io/v1alpha1",
        kind: "Bundle",
        metadata: { name, namespace, labels },
        spec: { entitlements: [{ name: "one" }] },
      }) as never;
    const write = async ({ client }: Tenant, name: string, labels: object): Promise<unknown> =>
      await client.create(bundle.kind, object(name, labels));
    const change = async ({ client }: Tenant, name: string, body: object): Promise<unknown> =>
      await client.patch(bundle.kind, { name, namespace }, { patch: { kind: "merge", body } });
    expect(
      await refusedSoon(
        async () => await author.client.create(bundle.kind, object("x", labelled), { dryRun: true }),
      ),
    ).toContain("needs the verb autoinject");
    expect(await refusalOf(async () => await write(author, "plain", {}))).toBeUndefined();
    expect(
      await refusalOf(async () => await change(author, "plain", { metadata: { labels: labelled } })),
    ).toContain("autoinject");
    expect(await refusalOf(async () => await write(trusted, "auto", labelled))).toBeUndefined();
    const spec = { entitlements: [{ name: "hostile" }] };
    expect(await refusalOf(async () => await change(author, "auto", { spec }))).toContain("autoinject");
    expect(
      await refusalOf(async () => await change(author, "auto", { metadata: { annotations: { a: "b" } } })),
    ).toBeUndefined();
    expect(await refusalOf(async () => await change(trusted, "auto", { spec }))).toBeUndefined();
    expect(
      await refusalOf(
        async () => await change(author, "auto", { metadata: { labels: { [ALWAYS_INJECT_LABEL]: null } } }),
      ),
    ).toBeUndefined();
  });

  test("the same holds for ClusterBundles", async () => {
    await using bench = await setUpBench({ isOperating: false });
    await enforcePolicy(bench, "subscription-always-inject.yaml", "cluster");
    await using author = await tenant(bench, ["get", "create"]);
    await using trusted = await tenant(bench, ["get", "create", "autoinject"]);
    const write = async ({ client }: Tenant): Promise<unknown> =>
      await client.create(
        clusterBundle.kind,
        {
          apiVersion: "subscription.openshift.io/v1alpha1",
          kind: "ClusterBundle",
          metadata: { name: bench.named("auto"), labels: labelled },
          spec: { entitlements: [{ name: "one", namespace: bench.namespace }] },
        } as never,
        { dryRun: true },
      );
    expect(await refusedSoon(async () => await write(author))).toContain("needs the verb autoinject");
    expect(await refusalOf(async () => await write(trusted))).toBeUndefined();
  });
});
