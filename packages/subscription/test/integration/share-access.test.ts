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

  test.each([
    { name: "another uid", uidOf: () => "another" },
    { name: "the uid of a real bundle", uidOf: (uid: string) => uid },
  ])(
    "[security/121] a Share made by hand that names $name as its owner gives it nothing",
    async ({ uidOf }) => {
      await using bench = await setUpBench();
      const { client, namespace } = bench;
      const name = bench.named("cb");
      await bench.secret("one", ["a.pem"]);
      await bench.secret("two", ["b.pem"]);
      const position = await bench.cluster.audit.position();
      const { metadata } = await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
      const owner = {
        apiVersion: "subscription.openshift.io/v1alpha1",
        kind: "ClusterBundle",
        name,
        uid: uidOf(metadata.uid),
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
      // A bundle that is reconciled after it shows that nothing was written for a moment either.
      await bench.patch(
        clusterBundle.kind,
        { name },
        { spec: { entitlements: [{ name: "two", namespace }] } },
      );
      await eventually(async (see) =>
        JSON.stringify(see(await client.find(roles, ref))?.rules).includes("two"),
      );
      const writes = await bench.writes(position);
      expect(writes.filter(({ path }) => path.includes(`${handMade}-share-driver`))).toEqual([]);
    },
  );
});
