import { clusterBundle, share } from "@quartermaster/api";
import { roleBindings, roles } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf, setUpBench } from "../support/bench.ts";

describe("the share driver", () => {
  test("[subscription-injection/AC-H11] may read exactly the object of a bundle's Share, as long as there is one", async () => {
    await using bench = await setUpBench();
    const { client, namespace } = bench;
    const name = bench.named("cb");
    await bench.secret("one", ["a.pem"]);
    await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
    await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Ready")?.startsWith("True") === true,
    );
    const ref = { namespace, name: `${name}-subscription-entitlement-share-driver` };
    const role = await eventually(async () => await client.find(roles, ref));
    expect(role.rules).toEqual([
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["one"], verbs: ["get", "watch"] },
    ]);
    const binding = await eventually(async () => await client.find(roleBindings, ref));
    expect(binding.subjects).toEqual([
      {
        kind: "ServiceAccount",
        name: "quartermaster-share-driver",
        namespace: "quartermaster-share-driver",
      },
    ]);
    await client.delete(clusterBundle.kind, { name });
    await eventually(async () => (await client.find(roles, ref)) === undefined);
    await eventually(async () => (await client.find(roleBindings, ref)) === undefined);
  });

  test("a Share that somebody made by hand gives it nothing, whatever owner it names", async () => {
    await using bench = await setUpBench();
    const { client, namespace } = bench;
    const name = bench.named("cb");
    await bench.secret("one", ["a.pem"]);
    await bench.secret("two", ["b.pem"]);
    await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
    const owner = {
      apiVersion: "subscription.openshift.io/v1alpha1",
      kind: "ClusterBundle",
      name,
      uid: "another",
      controller: true,
    };
    const handMade = bench.named("by-hand");
    await bench.create(share.kind, {
      apiVersion: "projectedresource.storage.openshift.io/v1alpha1",
      kind: "Share",
      metadata: { name: handMade, ownerReferences: [owner] },
      spec: { backingResource: { kind: "Secret", apiVersion: "v1", name: "two", namespace } },
    });
    // Once the Share of the bundle has its Role, the other one has been looked at too.
    const ref = { namespace, name: `${name}-subscription-entitlement-share-driver` };
    await eventually(async () => await client.find(roles, ref));
    expect(await client.find(roles, { namespace, name: `${handMade}-share-driver` })).toBeUndefined();
  });
});
