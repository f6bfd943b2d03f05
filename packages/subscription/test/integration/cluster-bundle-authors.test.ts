import { clusterBundle, share } from "@quartermaster/api";
import { classify, type Client } from "@quartermaster/runtime";
import { roles } from "@quartermaster/runtime/kinds";
import { connect, eventually, makeIdentity, type PolicyRule } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { type BundleBench, conditionOf, messageOf, ownLabel, setUpBench } from "../support/bench.ts";
import { enforcePolicy } from "../support/policy.ts";

const author = "subscription.openshift.io/author";
const groups = "subscription.openshift.io/author-groups";
const writesBundles: PolicyRule = {
  apiGroups: ["subscription.openshift.io"],
  resources: ["clusterbundles"],
  verbs: ["get", "list", "create", "update", "patch"],
};
const refusal = { reason: "cannot name another author", change: "cannot be changed" };

/** Someone who may write ClusterBundles, and get the Secrets of these names. */
async function anAuthor(
  bench: BundleBench,
  stack: AsyncDisposableStack,
  secrets: readonly string[] = [],
): Promise<{ readonly client: Client; readonly user: string }> {
  const rules =
    secrets.length === 0
      ? []
      : [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: secrets }];
  const identity = await makeIdentity(bench.cluster.api, bench.cluster.admin, {
    namespace: bench.namespace,
    rules,
    clusterRules: [writesBundles],
  });
  return { client: stack.use(connect(identity)).client, user: identity.user };
}

function aBundle(bench: BundleBench, secret: string, annotations: object = {}): object {
  const { namespace } = bench;
  return {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "ClusterBundle",
    metadata: { name: bench.named("cb"), labels: { [ownLabel]: namespace }, annotations },
    spec: { entitlements: [{ name: secret, namespace }] },
  };
}

async function errorOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "",
    (error: unknown) => (classify(error) === "forbidden" && error instanceof Error ? error.message : ""),
  );
}

/** Policies count a moment after they were created. */
async function recorded(bench: BundleBench, client: Client): Promise<void> {
  await eventually(async (see) => {
    const tried = await client.create(clusterBundle.kind, aBundle(bench, "victim") as never, {
      dryRun: true,
    });
    return see(tried.metadata.annotations ?? {})[author] !== undefined;
  });
}

describe("the author of a ClusterBundle", () => {
  test("[security/119] who may not get the Secret gives it to no pod, by a new bundle or by editing another's", async () => {
    await using stack = new AsyncDisposableStack();
    await using bench = await setUpBench({ requireAuthor: true });
    await enforcePolicy(bench, "subscription-author-record.yaml", "clusterBundles");
    await enforcePolicy(bench, "subscription-author.yaml", "clusterBundles");
    await bench.secret("mine", ["a.pem"]);
    await bench.secret("victim", ["b.pem"]);
    const eve = await anAuthor(bench, stack, ["mine"]);
    await recorded(bench, eve.client);
    const name = bench.named("cb");
    const ref = { name: `${name}-subscription-entitlement` };
    const driverRole = { namespace: bench.namespace, name: `${ref.name}-share-driver` };

    await bench.create(clusterBundle.kind, aBundle(bench, "mine"));
    await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Ready")?.startsWith("True") === true,
    );
    await eventually(async () => await bench.client.find(roles, driverRole));

    // The bundle is an administrator's; who edits its spec is its author from then on.
    const body = { spec: { entitlements: [{ name: "victim", namespace: bench.namespace }] } };
    await eve.client.patch(clusterBundle.kind, { name }, { patch: { kind: "merge", body } });
    const denied = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Invalid") === "True/AuthorForbidden",
    );
    expect(denied.metadata.annotations?.[author]).toBe(eve.user);
    expect(messageOf(denied, "Invalid")).toContain(`may not get Secret ${bench.namespace}/victim`);
    await eventually(async () => (await bench.client.find(roles, driverRole)) === undefined);
    expect(await bench.client.find(share.kind, ref)).toBeUndefined();
    expect(denied.status?.shares ?? []).toEqual([]);

    // A client that may get it shares it by writing the spec.
    const back = { spec: { entitlements: [{ name: "mine", namespace: bench.namespace }] } };
    await eve.client.patch(clusterBundle.kind, { name }, { patch: { kind: "merge", body: back } });
    await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Ready")?.startsWith("True") === true,
    );
  });

  test("[security/119] cannot be forged, on clusters that record it and on those that do not", async () => {
    await using stack = new AsyncDisposableStack();
    await using bench = await setUpBench({ requireAuthor: true });
    await enforcePolicy(bench, "subscription-author.yaml", "clusterBundles");
    await bench.secret("victim", ["b.pem"]);
    const eve = await anAuthor(bench, stack);
    const forged = { [author]: "system:admin", [groups]: '["system:masters"]' };
    await eventually(async (see) =>
      see(
        await errorOf(
          eve.client.create(clusterBundle.kind, aBundle(bench, "victim", forged) as never, { dryRun: true }),
        ),
      ).includes(refusal.reason),
    );
    await eve.client.create(clusterBundle.kind, aBundle(bench, "victim") as never);
    const name = bench.named("cb");
    const unknown = await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Invalid") === "True/AuthorUnknown",
    );
    expect(messageOf(unknown, "Invalid")).toContain("config/policy/subscription-author-record.yaml");
    const patch = { kind: "merge", body: { metadata: { annotations: forged } } } as const;
    expect(await errorOf(eve.client.patch(clusterBundle.kind, { name }, { patch }))).toContain(
      refusal.change,
    );
    // A user who takes over a bundle without a record becomes its author, and is not another's from then on.
    const own = { [author]: eve.user };
    const taken = { kind: "merge", body: { metadata: { annotations: own } } } as const;
    await eve.client.patch(clusterBundle.kind, { name }, { patch: taken });
    await bench.until(
      clusterBundle.kind,
      name,
      (object) => conditionOf(object, "Invalid") === "True/AuthorForbidden",
    );
    expect(await errorOf(eve.client.patch(clusterBundle.kind, { name }, { patch }))).toContain(
      refusal.change,
    );
    expect(await bench.client.find(share.kind, { name: `${name}-subscription-entitlement` })).toBeUndefined();
    await bench.client.delete(clusterBundle.kind, { name });
  });
});
