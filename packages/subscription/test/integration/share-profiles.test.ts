import { clusterBundle } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { clusterRoles, customResourceDefinitions } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { type BundleBench, conditionOf, setUpBench } from "../support/bench.ts";

const group = "sharedresource.openshift.io";

/** OpenShift's definitions as far as they matter here; gone at the end, because other tests expect them absent. */
async function serveSharedResources(bench: BundleBench): Promise<void> {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (const kind of ["SharedSecret", "SharedConfigMap"]) {
    const plural = `${kind.toLowerCase()}s`;
    await bench.create<KubeObject>(customResourceDefinitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: {
        name: `${plural}.${group}`,
        annotations: { "api-approved.kubernetes.io": "unapproved, test-only" },
      },
      spec: {
        group,
        scope: "Cluster",
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [
          {
            name: "v1alpha1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec: anything } } },
          },
        ],
      },
    });
  }
}

describe("the Share API of the platform", () => {
  test("[subscription-injection/AC-F12] without it the bundle says so; once served, it is used and `use` is granted", async () => {
    await using bench = await setUpBench({ profile: "sharedresource" });
    const { namespace, client } = bench;
    const name = bench.named("cb");
    await bench.secret("one", ["a.pem"]);
    await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
    const waiting = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "DriverUnavailable") === "True/ShareApiNotServed",
    );
    expect(waiting.status?.shares ?? []).toEqual([]);
    expect(conditionOf(waiting, "Stalled")).toBe("True/ShareApiNotServed");
    await serveSharedResources(bench);
    const ready = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Ready") === "True/Settled",
    );
    expect(conditionOf(ready, "DriverUnavailable")).toBe("False/ShareApiServed");
    expect(ready.status?.shares).toEqual([
      {
        name: `${name}-subscription-entitlement`,
        kind: "SharedSecret",
        apiVersion: `${group}/v1alpha1`,
        ref: { kind: "Secret", name: "one", namespace },
      },
    ]);
    const role = await client.get(clusterRoles, { name: `${name}-subscription-bundle` });
    expect(role.rules).toContainEqual({
      apiGroups: [group],
      resources: ["sharedsecrets"],
      resourceNames: [`${name}-subscription-entitlement`],
      verbs: ["get", "list", "watch", "use"],
    });
  });
});
