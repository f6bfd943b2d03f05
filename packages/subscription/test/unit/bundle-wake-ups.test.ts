import {
  ALWAYS_INJECT_LABEL,
  type Bundle,
  bundle,
  type ClusterBundle,
  clusterBundle,
  share,
} from "@quartermaster/api";
import { firstDecision, type KubeObject, type Live, type Verdict } from "@quartermaster/runtime";
import { wokenBy } from "@quartermaster/runtime/testing";
import { describe, expect, test } from "vitest";

import { bundleReasons } from "../../src/bundle-reasons.ts";
import { bundleRules, observe as observeBundle } from "../../src/bundle/bundle-controller.ts";
import { waitingForDriver } from "../../src/cluster-bundle/is-driver-registered.ts";
import { observe as observeClusterBundle, sharedReferences } from "../../src/cluster-bundle/observe.ts";
import { clusterBundleRules } from "../../src/cluster-bundle/rules.ts";
import { labelledLimit } from "../../src/injection/choose-bundles.ts";
import { objectKeyLimit, referencesOf } from "../../src/injection/injection-facts.ts";
import { AlwaysInjectPeers } from "../../src/references/always-inject-peers.ts";
import { BundleScene } from "../support/bundle-scene.ts";

const driver = "csi.example.com";
const labels = { [ALWAYS_INJECT_LABEL]: "true" };

/** A bundle in a world, with what a reconcile of it decides. */
interface Scene {
  readonly state: BundleScene;
  readonly peers: AlwaysInjectPeers<Bundle> | AlwaysInjectPeers<ClusterBundle>;
  decide(): Promise<Verdict<unknown>>;
  /** Writes the bundle again: its own event brings it back. */
  edit(change: { readonly spec?: object; readonly metadata?: object }): void;
}

function ofBundle(spec: object = { entitlements: [{ name: "a" }] }, metadata: object = {}): Scene {
  const state = new BundleScene();
  const peers = new AlwaysInjectPeers<Bundle>({ referencesOf });
  const made = (more: { readonly spec?: object; readonly metadata?: object }): Live =>
    state.put({
      apiVersion: "subscription.openshift.io/v1alpha1",
      kind: bundle.kind.kind,
      metadata: {
        name: "b",
        namespace: "ns",
        uid: "uid-of-b",
        creationTimestamp: "2026-02-01T00:00:00Z",
        generation: 1,
        ...metadata,
        ...more.metadata,
      },
      spec: more.spec ?? spec,
    } as KubeObject);
  made({});
  return {
    state,
    peers,
    edit: (more) => {
      made(more);
      peers.watch(bundle.kind).refsOf(state.api.find("Bundle", { namespace: "ns", name: "b" }) ?? made({}));
    },
    decide: async () => {
      const own = state.api.find("Bundle", { namespace: "ns", name: "b" }) as Live<Bundle>;
      const seen = await observeBundle(own, state.ctx, peers);
      return firstDecision(bundleRules(), seen, new Date(0)).verdict;
    },
  };
}

function ofClusterBundle(spec: object = {}, metadata: object = {}, hasApi = true): Scene {
  const state = new BundleScene();
  const peers = new AlwaysInjectPeers<ClusterBundle>({ referencesOf: sharedReferences });
  const made = (more: { readonly spec?: object; readonly metadata?: object }): Live =>
    state.put({
      apiVersion: "subscription.openshift.io/v1alpha1",
      kind: clusterBundle.kind.kind,
      metadata: { name: "cb", uid: "uid-of-cb", generation: 1, ...metadata, ...more.metadata },
      spec: {
        shareRetention: "Immediate",
        entitlements: [{ name: "a", namespace: "ns" }],
        ...spec,
        ...more.spec,
      },
    } as KubeObject);
  made({});
  state.put(secret("a", ["a.pem"]));
  state.put(nodeWith(driver));
  if (hasApi) state.put(shareApi);
  const settings = { allowedClusterRoles: ["admin", "edit"], defaultClusterRoles: [], driver };
  return {
    state,
    peers,
    edit: made,
    decide: async () => {
      const own = state.api.find("ClusterBundle", { name: "cb" }) as Live<ClusterBundle>;
      const seen = await observeClusterBundle(own, state.ctx, { settings, peers });
      return firstDecision(clusterBundleRules(settings), seen, new Date(0)).verdict;
    },
  };
}

const secret = (name: string, keys: readonly string[]): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "ns" },
    data: Object.fromEntries(keys.map((key) => [key, ""])),
  }) as KubeObject;
const shareApi = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${share.kind.plural}.${share.kind.group}` },
  spec: { versions: [{ name: share.kind.version, served: true }] },
  status: { conditions: [{ type: "Established", status: "True" }] },
} as KubeObject;
const nodeWith = (...drivers: readonly string[]): KubeObject =>
  ({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: "node" },
    spec: { drivers: drivers.map((name) => ({ name })) },
  }) as KubeObject;
const clusterRole = (name: string, more: object = {}): KubeObject => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  ...more,
});
const aggregating = (name: string): KubeObject =>
  clusterRole(name, {
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: "true" } }],
    },
  });
const keyNames = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `k${at}`);
const peer = (name: string, ...secrets: readonly string[]): KubeObject =>
  ({
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "Bundle",
    metadata: { name, namespace: "ns", labels, creationTimestamp: "2026-01-01T00:00:00Z", generation: 1 },
    spec: { entitlements: secrets.map((each) => ({ name: each, optional: false })) },
  }) as unknown as KubeObject;

/** How an object that waits comes back when the cause goes. */
type Wake =
  /** The object that changes is followed by name. */
  | { readonly follows: string }
  /** Its own declaration has to change. */
  | { readonly own: true }
  /** Another bundle with the label changes. */
  | { readonly peer: string }
  /** A watch of a kind, mapped to those who wait. */
  | { readonly tracks: string }
  /** Nothing announces it: it looks again on its own. */
  | { readonly afterMs: number; readonly because: string };

interface Row {
  readonly comes: () => Scene;
  readonly goes: (scene: Scene) => void;
  readonly wake: Wake;
}

const missing: Row = {
  comes: () => ofBundle(),
  goes: ({ state }) => {
    state.put(secret("a", ["a.pem"]));
  },
  wake: { follows: "Secret ns/a" },
};

const inConflict = (field: "entitlements" | "yumRepositories", kind: "Secret" | "ConfigMap"): Row => ({
  comes: () => {
    const scene = ofBundle({ [field]: [{ name: "a" }, { name: "b" }] });
    for (const name of ["a", "b"]) scene.state.put({ ...secret(name, ["same"]), kind });
    return scene;
  },
  goes: ({ state }) => {
    state.put({ ...secret("b", ["other"]), kind });
  },
  wake: { follows: `${kind} ns/b` },
});

const taken: KubeObject = {
  apiVersion: `${share.kind.group}/${share.kind.version}`,
  kind: share.kind.kind,
  metadata: { name: "cb-subscription-entitlement" },
};

/** Reasons of bundles that report trouble; each with how it comes, and how it goes without a resync. */
const rows: Readonly<Record<string, Row>> = {
  ReferenceNotFound: missing,
  ReferenceForbidden: {
    comes: () => {
      const scene = ofBundle();
      scene.state.put(secret("a", ["a.pem"]));
      scene.state.forbidden.add("Secret ns/a");
      return scene;
    },
    goes: ({ state }) => {
      state.forbidden.clear();
    },
    wake: { follows: "Secret ns/a" },
  },
  CrossNamespaceReference: {
    comes: () => ofBundle({ entitlements: [{ name: "a", namespace: "elsewhere" }] }),
    goes: (scene) => {
      scene.state.put(secret("a", ["a.pem"]));
      scene.edit({ spec: { entitlements: [{ name: "a" }] }, metadata: { generation: 2 } });
    },
    wake: { own: true },
  },
  AuthorUnknown: {
    comes: () => ofClusterBundle({}, { annotations: unreadableAuthor }),
    goes: (scene) => {
      scene.edit({ metadata: { annotations: {} } });
    },
    wake: { own: true },
  },
  AuthorForbidden: {
    comes: () => {
      const scene = ofClusterBundle({}, { annotations: { "subscription.openshift.io/author": "eve" } });
      scene.state.api.respondRaw = () => ({ status: { allowed: false } });
      return scene;
    },
    goes: ({ state }) => {
      Object.assign(state.api, { respondRaw: () => ({ status: { allowed: true } }) });
    },
    wake: { afterMs: 300_000, because: "who may read what is not watched: it may be any webhook's answer" },
  },
  TooManyKeys: {
    comes: () => {
      const scene = ofBundle();
      scene.state.put(secret("a", keyNames(objectKeyLimit + 1)));
      return scene;
    },
    goes: ({ state }) => {
      state.put(secret("a", keyNames(objectKeyLimit)));
    },
    wake: { follows: "Secret ns/a" },
  },
  NamespaceLimit: {
    comes: () => {
      const scene = ofBundle();
      scene.state.put(secret("a", ["a.pem"]));
      for (const name of keyNames(128)) scene.state.put(unlabelled(peer(name)));
      return scene;
    },
    goes: (scene) => {
      const gone = unlabelled(peer("k0"));
      scene.state.api.remove(gone);
      scene.peers.watch(bundle.kind as never).refsOf(gone as Live);
    },
    wake: { afterMs: 60_000, because: "any of 128 bundles may go, and each would wake all others" },
  },
  AlwaysInjectLimit: {
    comes: () => {
      const scene = ofBundle({ entitlements: [{ name: "a" }] }, { name: "b", labels });
      scene.state.put(secret("a", ["a.pem"]));
      for (const name of keyNames(labelledLimit)) scene.state.put(peer(`a-${name}`));
      return scene;
    },
    goes: ({ state }) => {
      state.api.remove(peer("a-k0"));
    },
    wake: { peer: "a-k0" },
  },
  EntitlementKeyConflict: inConflict("entitlements", "Secret"),
  RepositoryKeyConflict: inConflict("yumRepositories", "ConfigMap"),
  GrantForbidden: {
    comes: () => {
      const scene = ofClusterBundle();
      scene.state.unsynced.add("ClusterRole");
      return scene;
    },
    goes: ({ state }) => {
      state.unsynced.clear();
    },
    wake: { afterMs: 60_000, because: "a watch that may not be opened has no event to say that it may" },
  },
  NameTaken: {
    comes: () => {
      const scene = ofClusterBundle();
      scene.state.put(taken);
      return scene;
    },
    goes: ({ state }) => {
      state.api.remove(taken);
    },
    wake: { follows: "Share /cb-subscription-entitlement" },
  },
  RoleOverridden: {
    comes: () => {
      const scene = ofClusterBundle();
      scene.state.put(ourRole({ aggregationRule: { clusterRoleSelectors: [] } }));
      return scene;
    },
    goes: ({ state }) => {
      state.api.remove(ourRole());
    },
    wake: { follows: "ClusterRole /cb-subscription-bundle" },
  },
  RoleNotAllowed: {
    comes: () => ofClusterBundle({ aggregateToClusterRoles: ["cluster-admin"] }),
    goes: (scene) => {
      scene.edit({ spec: { aggregateToClusterRoles: [] } });
    },
    wake: { own: true },
  },
  RoleNotFound: {
    comes: () => ofClusterBundle({ aggregateToClusterRoles: ["edit"] }),
    goes: ({ state }) => {
      state.put(aggregating("edit"));
    },
    wake: { follows: "ClusterRole /edit" },
  },
  RoleDoesNotAggregate: {
    comes: () => {
      const scene = ofClusterBundle({ aggregateToClusterRoles: ["edit"] });
      scene.state.put(clusterRole("edit"));
      return scene;
    },
    goes: ({ state }) => {
      state.put(aggregating("edit"));
    },
    wake: { follows: "ClusterRole /edit" },
  },
  ShareApiNotServed: {
    comes: () => ofClusterBundle({}, {}, false),
    goes: ({ state }) => {
      state.put(shareApi);
    },
    wake: { follows: `CustomResourceDefinition /${shareApi.metadata.name}` },
  },
  DriverNotRegistered: {
    comes: () => {
      const scene = ofClusterBundle();
      scene.state.put(nodeWith());
      return scene;
    },
    goes: ({ state }) => {
      state.put(nodeWith("another", driver));
    },
    wake: { tracks: "CSINode" },
  },
  ShareApiStarting: {
    comes: () => {
      const scene = ofClusterBundle();
      scene.state.unsynced.add(share.kind.kind);
      return scene;
    },
    goes: ({ state }) => {
      state.unsynced.clear();
    },
    wake: { afterMs: 1_000, because: "the first picture of a watch may be empty, and is no event then" },
  },
};

/** Reasons that say that nothing is wrong. */
const healthy = ["ReferencesFound", "NoKeyConflict", "Shared", "Aggregated", "ShareApiServed"];

const unreadableAuthor = {
  "subscription.openshift.io/author": "eve",
  "subscription.openshift.io/author-groups": "{",
};

function unlabelled(object: KubeObject): KubeObject {
  const { labels: _labels, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, uid: `uid-${metadata.name}` } };
}

function ourRole(more: object = {}): KubeObject {
  const role = clusterRole("cb-subscription-bundle", more);
  const owner = {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "ClusterBundle",
    name: "cb",
    uid: "uid-of-cb",
    controller: true,
  };
  return { ...role, metadata: { ...role.metadata, ownerReferences: [owner] } };
}

function reasonsOf({ outcome, conditions = [] }: Verdict<unknown>): readonly string[] {
  const why = "why" in outcome ? [outcome.why.reason] : [];
  return [...why, ...conditions.map(({ reason }) => reason)];
}

function retryMsOf({ outcome }: Verdict<unknown>): number | undefined {
  if (outcome.kind === "settled") return outcome.recheckAfterMs;
  return outcome.kind === "held" ? undefined : outcome.retryAfterMs;
}

/** What the watches of the controller bring back once the cause has gone. */
function isWoken({ state, peers }: Scene, wake: Wake, verdict: Verdict<unknown>): boolean {
  if ("follows" in wake) return state.followed.has(wake.follows);
  if ("afterMs" in wake) return retryMsOf(verdict) === wake.afterMs;
  if ("tracks" in wake) return state.tracked.has(wake.tracks);
  if ("own" in wake) return true;
  const old = peer(wake.peer) as Live;
  const woken = wokenBy(peers.watch(bundle.kind as never), { type: "deleted", isInitial: false, old });
  return woken.some(({ name }) => name === "b");
}

test("every reason of bundles has a row here, or says that nothing is wrong", () => {
  expect([...Object.keys(rows), ...healthy].toSorted()).toEqual(Object.values(bundleReasons).toSorted());
});

describe("a bundle that waits comes back on its own when the cause goes", () => {
  test.each(Object.entries(rows))("%s", async (reason, { comes, goes, wake }) => {
    const scene = comes();
    const verdict = await scene.decide();
    expect(reasonsOf(verdict)).toContain(reason);
    expect(isWoken(scene, wake, verdict)).toBe(true);
    goes(scene);
    expect(reasonsOf(await scene.decide())).not.toContain(reason);
  });
});

describe("a change of a bundle with the always-inject label", () => {
  const woken = (scene: Scene, old: KubeObject, changed?: KubeObject): readonly string[] => {
    const event =
      changed === undefined
        ? ({ type: "deleted", isInitial: false, old: old as Live } as const)
        : ({ type: "updated", isInitial: false, old: old as Live, new: changed as Live } as const);
    return wokenBy(scene.peers.watch(bundle.kind as never), event).map(({ name }) => name);
  };
  const withMetadata = (object: KubeObject, metadata: object): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });
  const before = peer("a", "s");
  test.each([
    { name: "its spec", after: withMetadata(before, { generation: 2 }) },
    { name: "its label goes", after: withMetadata(before, { labels: {} }) },
    { name: "it is being deleted", after: withMetadata(before, { deletionTimestamp: "now" }) },
    { name: "it goes", after: undefined },
  ])("$name: wakes its peers", async ({ after }) => {
    const scene = ofBundle({ entitlements: [{ name: "s" }] }, { labels });
    scene.state.put(before);
    scene.state.put(secret("s", ["k"]));
    await scene.decide();
    expect(woken(scene, before, after)).toContain("b");
  });

  test.each([1, 2, 3, 4])("that lets %i in together wakes every one of them", async (count) => {
    const scene = ofBundle({ entitlements: [{ name: "s" }] }, { labels });
    scene.state.put(secret("s", ["k"]));
    const early = keyNames(labelledLimit).map((name) => peer(`a-${name}`));
    const late = keyNames(count - 1).map((name) => peer(`c-${name}`));
    for (const each of [...early, ...late]) scene.state.put(each);
    await scene.decide();
    const all = early.slice(0, count).flatMap((each) => woken(scene, each));
    for (const name of ["b", ...late.map(({ metadata }) => metadata.name)]) expect(all).toContain(name);
  });
});

describe("a node that registers a driver", () => {
  const waiting = (name: string, reason: string): ClusterBundle =>
    ({
      metadata: { name },
      status: { conditions: [{ type: "DriverUnavailable", status: "True", reason }] },
    }) as unknown as ClusterBundle;
  test.each([0, 1, 2, 3, 4])("wakes the %i that wait for one, and no others", (count) => {
    const names = keyNames(count);
    const bundles = {
      list: () => [
        waiting("other", "ShareApiNotServed"),
        ...names.map((name) => waiting(name, "DriverNotRegistered")),
      ],
    };
    const node = { metadata: { name: "n" }, drivers: ["another", driver] } as unknown as Live;
    expect(waitingForDriver(node, bundles as never).map(({ name }) => name)).toEqual(names);
    const bare = { metadata: { name: "n" }, drivers: [] } as unknown as Live;
    expect(waitingForDriver(bare, bundles as never)).toEqual([]);
  });
});

describe("Shares of two kinds, of which one is not known yet", () => {
  const apis = ["sharedsecrets", "sharedconfigmaps"].map((plural) => ({
    ...shareApi,
    metadata: { name: `${plural}.sharedresource.openshift.io` },
    spec: { versions: [{ name: "v1alpha1", served: true }] },
  }));
  test.each([
    { name: "the first", unsynced: ["SharedSecret"], want: true },
    { name: "the second", unsynced: ["SharedConfigMap"], want: true },
    { name: "both", unsynced: ["SharedSecret", "SharedConfigMap"], want: true },
    { name: "neither", unsynced: [], want: false },
  ])("$name: nothing is written while it is so", async ({ unsynced, want }) => {
    const scene = ofClusterBundle({ yumRepositories: [{ name: "r", namespace: "ns" }] }, {}, false);
    for (const api of apis) scene.state.put(api);
    scene.state.put({ ...secret("r", ["x.repo"]), kind: "ConfigMap" });
    for (const kind of unsynced) scene.state.unsynced.add(kind);
    const verdict = await scene.decide();
    expect(reasonsOf(verdict).includes("ShareApiStarting")).toBe(want);
    expect((verdict.lanes ?? []).length > 0).toBe(!want);
  });
});
