import { randomUUID } from "node:crypto";

import { clusterBundle, type ClusterBundle, share } from "@quartermaster/api";
import { classify, type Kind, type Live } from "@quartermaster/runtime";
import { clusterRoles, roleBindings, secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { type BundleBench, conditionOf, messageOf, setUpBench } from "../support/bench.ts";

const isReady = (object: ClusterBundle): boolean => conditionOf(object, "Ready")?.startsWith("True") === true;
const aggregateTo = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`;

async function exists(bench: BundleBench, kind: Kind, name: string): Promise<boolean> {
  return (await bench.client.find(kind, { name })) !== undefined;
}

/** A bundle with one entitlement that exists. */
async function sharedBundle(bench: BundleBench, spec: object = {}): Promise<string> {
  const name = bench.named("cb");
  await bench.secret("one", ["a.pem"]);
  await bench.clusterBundle(name, {
    entitlements: [{ name: "one", namespace: bench.namespace }],
    ...spec,
  });
  await bench.until(clusterBundle.kind, name, isReady);
  return name;
}

type Shares = NonNullable<NonNullable<ClusterBundle["status"]>["shares"]>;

async function bundleOfTwo(
  bench: BundleBench,
): Promise<{ readonly live: Live<ClusterBundle>; readonly shares: Shares }> {
  const { namespace } = bench;
  const name = bench.named("cb");
  await bench.secret("one", ["a.pem"]);
  await bench.secret("two", ["b.pem"]);
  const entitlements = ["one", "two"].map((each) => ({ name: each, namespace }));
  await bench.clusterBundle(name, { aggregateToClusterRoles: ["edit", "admin"], entitlements });
  const live = await bench.until(clusterBundle.kind, name, isReady);
  return { live, shares: live.status?.shares ?? [] };
}

describe("a ClusterBundle", () => {
  test("[subscription-injection/AC-F1] gets Shares with owners, and its status names them", async () => {
    await using bench = await setUpBench();
    const { namespace, client } = bench;
    const { live, shares } = await bundleOfTwo(bench);
    const { name } = live.metadata;
    const [first, second] = shares;
    expect(first).toEqual({
      name: `${name}-subscription-entitlement`,
      kind: "Share",
      apiVersion: "projectedresource.storage.openshift.io/v1alpha1",
      ref: { kind: "Secret", name: "one", namespace },
    });
    expect(second?.name).toMatch(new RegExp(`^${name}-subscription-entitlement-[0-9a-f]{8}$`));
    expect(conditionOf(live, "Invalid")).toBe("False/ReferencesFound");
    const made = await client.get(share.kind, { name: `${name}-subscription-entitlement` });
    expect(made.spec.backingResource).toEqual({ kind: "Secret", apiVersion: "v1", name: "one", namespace });
    expect(made.metadata.ownerReferences).toMatchObject([{ uid: live.metadata.uid, controller: true }]);
  });

  test("[subscription-injection/AC-F1] [subscription-injection/AC-F19] gets a ClusterRole for exactly its objects", async () => {
    await using bench = await setUpBench();
    const { live, shares } = await bundleOfTwo(bench);
    const { name, uid } = live.metadata;
    const role = await bench.client.get(clusterRoles, { name: `${name}-subscription-bundle` });
    expect(live.status?.clusterRole).toBe(role.metadata.name);
    expect(role.metadata.labels).toEqual({ [aggregateTo("edit")]: "true", [aggregateTo("admin")]: "true" });
    expect(role.metadata.ownerReferences).toMatchObject([{ uid, controller: true }]);
    const verbs = ["get", "list", "watch", "use"];
    expect(role.rules).toEqual([
      {
        apiGroups: ["projectedresource.storage.openshift.io"],
        resources: ["shares"],
        resourceNames: shares.map((each) => each.name),
        verbs,
      },
      {
        apiGroups: ["subscription.openshift.io"],
        resources: ["clusterbundles"],
        resourceNames: [name],
        verbs,
      },
    ]);
  });

  test("[subscription-injection/AC-F2] reports a missing reference, shares the others and recovers on its own", async () => {
    await using bench = await setUpBench();
    const { namespace } = bench;
    const name = bench.named("cb");
    await bench.secret("there", ["a.pem"]);
    await bench.clusterBundle(name, {
      entitlements: [
        { name: "absent", namespace },
        { name: "there", namespace },
      ],
    });
    const found = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Invalid") === "True/ReferenceNotFound",
    );
    expect(messageOf(found, "Invalid")).toContain(`Secret ${namespace}/absent does not exist`);
    expect(found.status?.shares?.map(({ ref }) => ref?.name)).toEqual(["there"]);
    expect(await exists(bench, share.kind, `${name}-subscription-entitlement`)).toBe(false);
    await bench.secret("absent", ["b.pem"]);
    const healed = await bench.until(clusterBundle.kind, name, isReady);
    expect(conditionOf(healed, "Invalid")).toBe("False/ReferencesFound");
    expect(healed.status?.shares).toHaveLength(2);
  });

  test("[subscription-injection/AC-F3] a replaced entitlement updates the Share in place", async () => {
    await using bench = await setUpBench();
    const { namespace, client } = bench;
    const name = await sharedBundle(bench);
    const ref = { name: `${name}-subscription-entitlement` };
    const before = await client.get(share.kind, ref);
    await bench.secret("other", ["b.pem"]);
    await bench.patch(
      clusterBundle.kind,
      { name },
      { spec: { entitlements: [{ name: "other", namespace }] } },
    );
    const after = await eventually(async (see) => {
      const found = see(await client.get(share.kind, ref));
      return found.spec.backingResource.name === "other" ? found : undefined;
    });
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  test("[subscription-injection/AC-F5] [subscription-injection/AC-F22] labels follow the roles of the spec or the default", async () => {
    await using bench = await setUpBench({ defaultClusterRoles: ["view"] });
    const name = await sharedBundle(bench, { aggregateToClusterRoles: ["edit"] });
    const labels = async (): Promise<readonly string[]> => {
      const role = await bench.client.get(clusterRoles, { name: `${name}-subscription-bundle` });
      return Object.keys(role.metadata.labels ?? {});
    };
    expect(await labels()).toEqual([aggregateTo("edit")]);
    for (const [roles, want] of [
      [["admin"], "admin"],
      [null, "view"],
    ] as const) {
      await bench.patch(clusterBundle.kind, { name }, { spec: { aggregateToClusterRoles: roles } });
      await eventually(async (see) => see(await labels()).join() === aggregateTo(want));
    }
  });

  test("[subscription-injection/AC-F6] [security/42] names the roles that it cannot be aggregated to", async () => {
    const plain = `plain-${randomUUID()}`;
    await using bench = await setUpBench({ allowedClusterRoles: ["admin", plain, "ghost"] });
    await bench.create(clusterRoles, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: plain },
      rules: [],
    });
    const name = await sharedBundle(bench, { aggregateToClusterRoles: [plain] });
    const reasonIs = (want: string) => (object: ClusterBundle) =>
      conditionOf(object, "AggregationIneffective") === want;
    await bench.until(clusterBundle.kind, name, reasonIs("True/RoleDoesNotAggregate"));
    const steps = [
      { roles: ["ghost"], want: "True/RoleNotFound" },
      { roles: ["cluster-admin", "admin"], want: "True/RoleNotAllowed" },
      { roles: ["admin"], want: "False/Aggregated" },
    ];
    for (const { roles, want } of steps) {
      await bench.patch(clusterBundle.kind, { name }, { spec: { aggregateToClusterRoles: roles } });
      await bench.until(clusterBundle.kind, name, reasonIs(want));
      const role = await bench.client.get(clusterRoles, { name: `${name}-subscription-bundle` });
      expect(Object.keys(role.metadata.labels ?? {})).not.toContain(aggregateTo("cluster-admin"));
    }
  });

  test("[subscription-injection/AC-F7] a ClusterRole edited by hand is restored, added labels and rules included", async () => {
    await using bench = await setUpBench();
    const name = await sharedBundle(bench, { aggregateToClusterRoles: ["edit"] });
    const ref = { name: `${name}-subscription-bundle` };
    const { rules } = await bench.client.get(clusterRoles, ref);
    await bench.patch(clusterRoles, ref, {
      metadata: { labels: { [aggregateTo("view")]: "true" } },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    });
    const restored = async (): Promise<boolean> =>
      await eventually(async (see) => {
        const role = see(await bench.client.find(clusterRoles, ref));
        if (role === undefined) return false;
        const labels = Object.keys(role.metadata.labels ?? {});
        return (
          JSON.stringify(role.rules) === JSON.stringify(rules) &&
          labels.join() === aggregateTo("edit") &&
          role.aggregationRule === undefined
        );
      });
    await restored();
    await bench.patch(clusterRoles, ref, {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateTo("admin")]: "true" } }] },
    });
    await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "ShareSyncFailed") === "True/RoleOverridden",
    );
    await bench.client.delete(clusterRoles, ref);
    await restored();
    await bench.until(clusterBundle.kind, name, isReady);
  });

  test("[subscription-injection/AC-F8] a Share deleted by hand is made again", async () => {
    await using bench = await setUpBench();
    const ref = { name: `${await sharedBundle(bench)}-subscription-entitlement` };
    const { metadata } = await bench.client.get(share.kind, ref);
    await bench.client.delete(share.kind, ref);
    await eventually(async (see) => {
      const found = see(await bench.client.find(share.kind, ref));
      return found !== undefined && found.metadata.uid !== metadata.uid;
    });
  });

  test("[subscription-injection/AC-F9] another client's Share under our name is neither adopted nor granted", async () => {
    await using bench = await setUpBench();
    const { namespace, client } = bench;
    const name = bench.named("cb");
    const shareName = `${name}-subscription-entitlement`;
    await bench.secret("one", ["a.pem"]);
    // The same spec: an apply would find no conflict.
    const backingResource = { kind: "Secret", apiVersion: "v1", name: "one", namespace };
    const foreign = await bench.create(share.kind, {
      apiVersion: "projectedresource.storage.openshift.io/v1alpha1",
      kind: "Share",
      metadata: { name: shareName },
      spec: { backingResource },
    });
    await bench.clusterBundle(name, { entitlements: [{ name: "one", namespace }] });
    const found = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "ShareSyncFailed") === "True/NameTaken",
    );
    expect(messageOf(found, "ShareSyncFailed")).toContain(`Share "${shareName}"`);
    expect((await client.get(share.kind, { name: shareName })).metadata).toEqual(foreign.metadata);
    const role = await client.get(clusterRoles, { name: `${name}-subscription-bundle` });
    expect(role.rules?.map(({ resources }) => resources)).toEqual([["clusterbundles"]]);
    await client.delete(share.kind, { name: shareName });
    const healed = await bench.until(clusterBundle.kind, name, isReady);
    expect(healed.status?.shares).toHaveLength(1);
  });

  test("[subscription-injection/AC-F10] deleting it removes Shares and ClusterRole", async () => {
    await using bench = await setUpBench();
    const name = await sharedBundle(bench);
    await bench.client.delete(clusterBundle.kind, { name });
    await eventually(
      async () =>
        !(await exists(bench, share.kind, `${name}-subscription-entitlement`)) &&
        !(await exists(bench, clusterRoles, `${name}-subscription-bundle`)),
      { withinMs: 60_000 },
    );
  });

  test("[subscription-injection/AC-F11] a name that begins with openshift is refused", async () => {
    await using bench = await setUpBench({ isOperating: false });
    const made = bench.clusterBundle("openshift-x", { entitlements: [{ name: "a", namespace: "b" }] });
    const error = await made.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(classify(error)).toBe("invalid");
  });

  test("[subscription-injection/AC-F14] a restarted controller writes nothing without a change", async () => {
    await using bench = await setUpBench();
    const name = await sharedBundle(bench, { aggregateToClusterRoles: ["edit"] });
    // The last thing that is made for a bundle.
    const last = { namespace: bench.namespace, name: `${name}-subscription-entitlement-share-driver` };
    await eventually(async () => await bench.client.find(roleBindings, last));
    const position = await bench.cluster.audit.position();
    await bench.operate();
    // A change that needs no write shows that both controllers have looked.
    await bench.patch(clusterBundle.kind, { name }, { metadata: { annotations: { looked: "yes" } } });
    await bench.secret("later", ["x"]);
    await bench.clusterBundle(`${name}-2`, { entitlements: [{ name: "later", namespace: bench.namespace }] });
    await bench.until(clusterBundle.kind, `${name}-2`, isReady);
    const writes = await bench.writes(position);
    expect(
      writes.filter(({ path }) => path.includes(`/${name}/`) || path.includes(`/${name}-subscription`)),
    ).toEqual([]);
    expect(writes.length).toBeGreaterThan(0);
  });

  test("[security/40] values of Secrets are never read by list, and only referenced ones are watched", async () => {
    await using bench = await setUpBench({ isOperating: false });
    const position = await bench.cluster.audit.position();
    await bench.operate();
    await sharedBundle(bench);
    const entries = await bench.cluster.audit.since(position, {});
    const reads = entries.filter(
      ({ user, resource }) => user === bench.operator && resource === secrets.plural,
    );
    expect(reads.length).toBeGreaterThan(0);
    for (const { path } of reads)
      expect(decodeURIComponent(path)).toContain("fieldSelector=metadata.name=one");
  });
});
