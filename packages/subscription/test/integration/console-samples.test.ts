import { bundle, clusterBundle } from "@quartermaster/api";
import { type Kind, type KubeObject } from "@quartermaster/runtime";
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

describe("samples in the console", () => {
  test("[subscription-injection/AC-F18] are skipped without the API, made once it is served, and restored", async () => {
    await using bench = await setUpBench();
    const { client, namespace } = bench;
    await bench.bundle("b", { entitlements: [{ name: "absent", optional: true }] });
    await bench.until(bundle.kind, "b", (object) => conditionOf(object, "Ready") === "True/Settled");
    await bench.create<KubeObject>(customResourceDefinitions as Kind, definition);
    for (const { metadata, spec } of consoleSamples) {
      const made = await eventually(async (see) =>
        see(await client.find(consoleYamlSamples, metadata).catch(() => undefined)),
      );
      expect(made?.spec).toEqual(spec);
      expect(made?.metadata.ownerReferences?.[0]?.name).toBe("clusterbundles.subscription.openshift.io");
    }
    expect(consoleSamples.map(({ metadata }) => metadata.name)).toEqual([
      "subscription-cluster-bundle-example",
      "subscription-namespaced-bundle-example",
    ]);
    const [first] = consoleSamples;
    await client.delete(consoleYamlSamples, { name: first?.metadata.name ?? "" });
    await eventually(async () => await client.find(consoleYamlSamples, { name: first?.metadata.name ?? "" }));
    // What they contain is accepted by the API server as it is.
    for (const [kind, at] of [
      [clusterBundle.kind, 0],
      [bundle.kind, 1],
    ] as const) {
      const object = parse(consoleSamples[at]?.spec?.yaml ?? "") as KubeObject;
      expect(object.apiVersion).toBe("subscription.openshift.io/v1");
      const place = kind.scope === "Cluster" ? {} : { namespace };
      const v1 = { ...(kind as Kind), version: "v1" };
      const metadata = { ...object.metadata, ...place };
      await client.create(v1, { ...object, metadata }, { dryRun: true });
    }
  });
});
