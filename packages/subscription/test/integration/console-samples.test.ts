import { bundle, clusterBundle } from "@quartermaster/api";
import type { Client, Kind, KubeObject } from "@quartermaster/runtime";
import { customResourceDefinitions } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { consoleSamples, consoleYamlSamples } from "../../src/console-samples/console-sample-controller.ts";
import { conditionOf, setUpBench } from "../support/bench.ts";

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "consoleyamlsamples.console.openshift.io" },
  spec: {
    group: "console.openshift.io",
    scope: "Cluster",
    names: {
      kind: "ConsoleYAMLSample",
      plural: "consoleyamlsamples",
      singular: "consoleyamlsample",
      listKind: "ConsoleYAMLSampleList",
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        },
      },
    ],
  },
};

/** The samples as the enhancement has them. */
const wanted: ReadonlyMap<string, object> = new Map([
  [
    "subscription-cluster-bundle-example",
    {
      title: "Cluster-wide subscription bundle example",
      description:
        "An example of a subscription bundle that can be injected into any workload that has the `subscription.openshift.io/inject-cluster-bundle: cluster` annotation in its pod spec, and whose service account has the `edit` or `admin` role.",
      targetResource: { apiVersion: "subscription.openshift.io/v1", kind: "ClusterBundle" },
      yaml: {
        apiVersion: "subscription.openshift.io/v1",
        kind: "ClusterBundle",
        metadata: { name: "cluster" },
        spec: {
          aggregateToClusterRoles: ["edit", "admin"],
          entitlements: [{ name: "etc-pki-entitlement", namespace: "openshift-config" }],
        },
      },
    },
  ],
  [
    "subscription-namespaced-bundle-example",
    {
      title: "Namespaced subscription bundle example",
      description:
        "An example of a subscription bundle that can be injected into any workload in the bundle's namespace that has the `subscription.openshift.io/inject-bundle: subscription` annotation in its pod spec.",
      targetResource: { apiVersion: "subscription.openshift.io/v1", kind: "Bundle" },
      yaml: {
        apiVersion: "subscription.openshift.io/v1",
        kind: "Bundle",
        metadata: { name: "subscription" },
        spec: { entitlements: [{ name: "etc-pki-entitlement" }] },
      },
    },
  ],
]);

describe("samples in the console", () => {
  test("[subscription-injection/AC-F18,AC-F21] are skipped without the API, made once it is served, and restored", async () => {
    await using bench = await setUpBench();
    const { client } = bench;
    await bench.bundle("b", { entitlements: [{ name: "absent", optional: true }] });
    await bench.until(bundle.kind, "b", (object) => conditionOf(object, "Ready") === "True/Settled");
    await bench.create<KubeObject>(customResourceDefinitions, definition);
    for (const { metadata, spec } of consoleSamples) {
      const made = await appears(client, metadata.name);
      expect(made.spec).toEqual(spec);
      expect({ name: metadata.name, ...made.spec, yaml: parse(spec?.yaml ?? "") as unknown }).toMatchObject(
        wanted.get(metadata.name) ?? {},
      );
      expect(made.metadata.ownerReferences).toMatchObject([
        { name: "clusterbundles.subscription.openshift.io" },
      ]);
    }
    const names = consoleSamples.map(({ metadata }) => metadata.name);
    expect(names).toEqual([...wanted.keys()]);
    for (const name of names) {
      await client.delete(consoleYamlSamples, { name });
      await appears(client, name);
    }
  });

  test.each([
    { at: 0, kind: clusterBundle.kind as Kind },
    { at: 1, kind: bundle.kind as Kind },
  ])(
    "[subscription-injection/AC-A24] the API server accepts the YAML of a $kind.kind as it is",
    async ({ at, kind }) => {
      await using bench = await setUpBench({ isOperating: false });
      const object = parse(consoleSamples[at]?.spec?.yaml ?? "") as KubeObject;
      expect(object.apiVersion).toBe("subscription.openshift.io/v1");
      const location = kind.scope === "Cluster" ? {} : { namespace: bench.namespace };
      const metadata = { ...object.metadata, ...location };
      await bench.client.create({ ...kind, version: "v1" }, { ...object, metadata }, { dryRun: true });
    },
  );
});

type Sample = KubeObject & { readonly spec?: object };

/** Until the API is served, and then until the sample is there, the server answers 404; `eventually` passes over it. */
async function appears(client: Client, name: string): Promise<Sample> {
  return await eventually(async () => await client.get(consoleYamlSamples, { name }));
}
