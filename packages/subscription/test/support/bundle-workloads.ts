import { bundle, type Bundle, clusterBundle, type ClusterBundle, share } from "@quartermaster/api";
import type { Kind, KubeObject, Live } from "@quartermaster/runtime";
import { clusterRoles, roleBindings, roles } from "@quartermaster/runtime/kinds";
import type { Workload, WorkloadRun } from "@quartermaster/testkit";

import { type BundleBench, conditionOf, setUpBench } from "./bench.ts";

/** A Bundle gets an entitlement, then another one, then one that it may not name; a second one comes and goes. */
export const bundleWorkload: Workload = {
  name: "bundle",
  setUp: async () => await bundleRun(bundlesOf),
};

/** A ClusterBundle with two Shares drops one and changes its aggregation; a second one comes and goes. */
export const clusterBundleWorkload: Workload = {
  name: "cluster-bundle",
  setUp: async () => await bundleRun(clusterBundlesOf),
};

/** The two custom resources of a run: `a` stays, `b` goes. */
interface Bundles {
  readonly pathOf: (name: "a" | "b") => string;
  readonly create: (name: "a" | "b", spec: object) => Promise<void>;
  readonly edit: (spec: object) => Promise<void>;
  readonly delete: () => Promise<void>;
  readonly list: () => Promise<readonly Live<Bundle | ClusterBundle>[]>;
  /** Whether a bundle has exactly the children that its spec declares. */
  readonly isAsDeclared: (bundle: Live<Bundle | ClusterBundle>) => Promise<boolean>;
  /** Specs of `a`: the first, those it is edited to one after the other, and that of I3. */
  readonly specs: { readonly first: object; readonly edits: readonly object[]; readonly retargeted: object };
}

async function bundleRun(ofBench: (bench: BundleBench) => Bundles): Promise<WorkloadRun> {
  const bench = await setUpBench({ isOperating: false });
  const { namespace, cluster, operatorAccess } = bench;
  const bundles = ofBench(bench);
  for (const name of ["one", "two", "three"]) await bench.secret(name, [`${name}.pem`]);
  let isRetargeted = false;
  const specOr = (spec: object): object => (isRetargeted ? bundles.specs.retargeted : spec);
  return {
    api: cluster.api,
    operator: operatorAccess,
    aliases: { [namespace]: "ns" },
    primaryPaths: [bundles.pathOf("a"), bundles.pathOf("b")],
    operate: async (access) =>
      await bench.operate({ access, webhookAccount: { name: "webhook", namespace } }),
    stop: async () => await bench.stop(),
    steps: stepsOf(bench, bundles, specOr),
    endState: async () => await endState(bench, bundles),
    isCleared: async () => await isCleared(bench, bundles),
    retarget: async () => {
      isRetargeted = true;
      if ((await bundles.list()).length > 0) await bundles.edit(bundles.specs.retargeted);
    },
    restore: async () => {
      isRetargeted = false;
      await bundles.edit(bundles.specs.edits.at(-1) ?? bundles.specs.first);
    },
    [Symbol.asyncDispose]: async () => await bench[Symbol.asyncDispose](),
  };
}

function stepsOf(
  bench: BundleBench,
  bundles: Bundles,
  specOr: (spec: object) => object,
): WorkloadRun["steps"] {
  const { first, edits } = bundles.specs;
  const areAsDeclared = async (count: number): Promise<boolean> => {
    const live = await bundles.list();
    const isEach = await Promise.all(live.map(bundles.isAsDeclared));
    return live.length === count && isEach.every(Boolean);
  };
  return [
    {
      name: "create",
      act: async () => await bundles.create("a", specOr(first)),
      isDone: async () => await areAsDeclared(1),
    },
    ...edits.map((spec, at) => ({
      name: `edit ${at + 1}`,
      act: async () => await bundles.edit(specOr(spec)),
      isDone: async () => await areAsDeclared(1),
    })),
    {
      name: "second",
      act: async () => await bundles.create("b", first),
      isDone: async () => await areAsDeclared(2),
    },
    {
      name: "delete",
      act: async () => await bundles.delete(),
      isDone: async () => (await areAsDeclared(1)) && (await isCleared(bench, bundles)),
    },
  ];
}

function bundlesOf(bench: BundleBench): Bundles {
  const { client, namespace } = bench;
  const ref = (name: string) => ({ name, namespace });
  return {
    pathOf: (name) => `/apis/subscription.openshift.io/v1alpha1/namespaces/${namespace}/bundles/${name}`,
    create: async (name, spec) => void (await bench.bundle(name, spec)),
    edit: async (spec) => await bench.patch(bundle.kind, ref("a"), { spec }),
    delete: async () => await client.delete(bundle.kind, ref("b")),
    list: async () => (await client.listPage(bundle.kind, { namespace })).items,
    isAsDeclared: async (live) => {
      const readable = (live.spec.entitlements ?? []).filter((each) => each.namespace === undefined);
      const wanted = readable.map((each) => each.name).toSorted();
      const name = ref(`bundle-${live.metadata.name}-webhook`);
      const [role, binding] = [await client.find(roles, name), await client.find(roleBindings, name)];
      const granted = (role?.rules ?? []).flatMap(({ resourceNames = [] }) => resourceNames);
      const made = [role, binding].filter((each) => each !== undefined).length;
      return (
        conditionOf(live, "Ready")?.startsWith(wanted.length > 0 ? "True" : "False") === true &&
        granted.join() === wanted.join() &&
        made === (wanted.length > 0 ? 2 : 0)
      );
    },
    specs: {
      first: { entitlements: [{ name: "one" }] },
      edits: [
        { entitlements: [{ name: "two" }] },
        { entitlements: [{ name: "two", namespace: "kube-system" }] },
      ],
      retargeted: { entitlements: [{ name: "one" }, { name: "three" }] },
    },
  };
}

function clusterBundlesOf(bench: BundleBench): Bundles {
  const { client, namespace } = bench;
  const entitlements = (...names: readonly string[]) => ({
    entitlements: names.map((name) => ({ name, namespace })),
  });
  return {
    pathOf: (name) => `/apis/subscription.openshift.io/v1alpha1/clusterbundles/${bench.named(name)}`,
    create: async (name, spec) => void (await bench.clusterBundle(bench.named(name), spec)),
    edit: async (spec) => await bench.patch(clusterBundle.kind, { name: bench.named("a") }, { spec }),
    delete: async () => await client.delete(clusterBundle.kind, { name: bench.named("b") }),
    list: async () => await named(bench, clusterBundle.kind),
    isAsDeclared: async (live) => isReady(live) && (await isShared(bench, live)),
    specs: {
      first: { ...entitlements("one", "two"), aggregateToClusterRoles: ["edit"] },
      edits: [{ ...entitlements("one"), aggregateToClusterRoles: ["view"] }],
      retargeted: { ...entitlements("three"), aggregateToClusterRoles: ["admin"] },
    },
  };
}

/** Whether a ClusterBundle has exactly the Shares, the labels and the permissions that its spec declares. */
async function isShared(bench: BundleBench, live: Live<Bundle | ClusterBundle>): Promise<boolean> {
  const { name } = live.metadata;
  const wanted = (live.spec.entitlements ?? []).map((each) => each.name).toSorted();
  const owned = <O extends { readonly metadata: { readonly name: string } }>(objects: readonly O[]) =>
    objects.filter((object) => object.metadata.name.startsWith(name));
  const shares = owned(await named(bench, share.kind)).map(({ spec }) => spec.backingResource.name);
  const bindings = owned((await bench.client.listPage(roleBindings, { namespace: bench.namespace })).items);
  const role = await bench.client.find(clusterRoles, { name: `${name}-subscription-bundle` });
  const labels = Object.keys(role?.metadata.labels ?? {}).map((label) => label.split("-").at(-1));
  const aggregated = "aggregateToClusterRoles" in live.spec ? (live.spec.aggregateToClusterRoles ?? []) : [];
  return (
    shares.toSorted().join() === wanted.join() &&
    bindings.length === wanted.length &&
    labels.join() === aggregated.join()
  );
}

function isReady(live: Bundle | ClusterBundle): boolean {
  return conditionOf(live, "Ready")?.startsWith("True") === true;
}

/** Objects of the whole cluster that carry the namespace of the bench in their names. */
async function named<O extends KubeObject>(
  { client, namespace }: BundleBench,
  kind: Kind<O>,
): Promise<readonly Live<O>[]> {
  const { items } = await client.listPage(kind);
  return items.filter(({ metadata }) => metadata.name.includes(namespace));
}

async function children(bench: BundleBench): Promise<readonly Live[]> {
  const { client, namespace } = bench;
  const inNamespace = { namespace, labelSelector: "subscription.openshift.io/object-access" };
  return [
    ...(await named(bench, share.kind)),
    ...(await named(bench, clusterRoles)).filter(({ metadata }) =>
      metadata.name.endsWith("-subscription-bundle"),
    ),
    ...(await client.listPage(roles, inNamespace)).items,
    ...(await client.listPage(roleBindings, inNamespace)).items,
  ];
}

async function endState(bench: BundleBench, bundles: Bundles): Promise<unknown> {
  const live = await bundles.list();
  const names = new Map(live.map(({ metadata }) => [metadata.uid, metadata.name]));
  const state = {
    bundles: live.map((each) => [each.metadata.name, each.spec, isReady(each), sharesOf(each)]),
    children: (await children(bench)).map(({ kind, metadata, ...object }) => [
      kind,
      metadata.name,
      metadata.labels,
      metadata.ownerReferences?.map(({ uid }) => names.get(uid) ?? "unknown"),
      "spec" in object ? object.spec : undefined,
      "rules" in object ? object.rules : undefined,
      "subjects" in object ? object.subjects : undefined,
    ]),
  };
  return JSON.parse(JSON.stringify(state).replaceAll(bench.namespace, "ns"));
}

function sharesOf({ status }: Bundle | ClusterBundle): unknown {
  return status !== undefined && "shares" in status ? status.shares : undefined;
}

/** Whether no bundle is left in deletion, and no child without its bundle. */
async function isCleared(bench: BundleBench, bundles: Bundles): Promise<boolean> {
  const live = await bundles.list();
  const uids = new Set(live.map(({ metadata }) => metadata.uid));
  const owners = (await children(bench)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  return (
    live.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
    owners.every(({ uid }) => uids.has(uid))
  );
}
