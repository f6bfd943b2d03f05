import type { Bundle, ClusterBundle } from "@quartermaster/api";
import { AccessCache, ApiError, type Client, type KubeObject, type ReadStore } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { BundleReader } from "../../src/facts/bundle-reader.ts";
import { gatherFacts } from "../../src/facts/gather-facts.ts";
import { KeyIndex } from "../../src/facts/key-index.ts";
import type { WatchHandle, WatchKeys } from "../../src/facts/watched-keys.ts";
import { decideInjection } from "../../src/injection/decide-injection.ts";
import { viewPod } from "../../src/injection/pod-view.ts";
import { keyNamesOf } from "../../src/references/read-keys.ts";
import { readSubscriptionSettings } from "../../src/subscription-settings.ts";
import { aPod } from "../support/injection-cases.ts";

/** A server that knows some objects and writes down what it is queried. */
class FakeServer {
  nowMs = 0;
  readonly requested: string[] = [];
  readonly reviews: unknown[] = [];
  readonly objects = new Map<string, object>();
  failing: RegExp = /^$/;
  /** Of the last answer: longer strings came empty. */
  longestTextBytes = 0;
  isAllowed = true;
  /** Names that may not be used or read. */
  denied: readonly string[] = [];

  readonly client = {
    find: async (
      kind: { kind: string },
      { namespace = "", name }: { namespace?: string; name: string },
      { textLimitBytes = Number.POSITIVE_INFINITY }: { textLimitBytes?: number } = {},
    ) => {
      const key = `${kind.kind} ${namespace}/${name}`;
      this.requested.push(key);
      this.longestTextBytes = textLimitBytes;
      await Promise.resolve();
      this.#failIf(key);
      return this.objects.get(key);
    },
    raw: async ({ body }: { body: { spec: { resourceAttributes: { name: string } } } }) => {
      this.reviews.push(body.spec);
      await Promise.resolve();
      this.#failIf("review");
      const isDenied = this.denied.includes(body.spec.resourceAttributes.name);
      return { status: { allowed: this.isAllowed && !isDenied } };
    },
  } as unknown as Client;

  readonly system = { monotonicMs: () => this.nowMs };

  #failIf(key: string): void {
    if (!this.failing.test(key)) return;
    const isForbidden = key.includes("forbidden");
    throw new ApiError("refused", { class: isForbidden ? "forbidden" : "transient", mayHaveActed: false });
  }
}

function storeOf<O extends KubeObject>(...objects: readonly O[]): ReadStore<O> {
  return {
    get: ({ name }: { name: string }) => objects.find(({ metadata }) => metadata.name === name),
    list: () => objects,
    listBy: () => objects,
  } as unknown as ReadStore<O>;
}

const aBundle = (name: string, ...secrets: readonly string[]): Bundle =>
  ({
    metadata: { name, namespace: "app", generation: 1 },
    spec: { entitlements: secrets.map((secret) => ({ name: secret, optional: false })) },
  }) as unknown as Bundle;

const aClusterBundle = (name: string, labels: object = {}): ClusterBundle =>
  ({
    metadata: { name, generation: 1, labels },
    spec: { entitlements: [{ name: "s", namespace: "vault", optional: false }] },
  }) as unknown as ClusterBundle;

function readersOf(
  server: FakeServer,
  {
    bundles = [],
    clusterBundles = [],
  }: { bundles?: readonly Bundle[]; clusterBundles?: readonly ClusterBundle[] },
) {
  const { client, system } = server;
  return {
    bundles: new BundleReader({
      client,
      system,
      bundles: storeOf(...bundles),
      clusterBundles: storeOf(...clusterBundles),
    }),
    keys: new KeyIndex({ client, system }),
    access: new AccessCache({ client, system }),
  };
}

const { signal } = new AbortController();
const podFor = (annotations: Record<string, string>, spec: object = {}) => ({
  pod: viewPod(aPod({ annotations, spec })),
  namespace: "app",
  signal,
});
const always = { "subscription.openshift.io/always-inject": "true" };

describe("bundles", () => {
  test("[subscription-injection/AC-E17] one that the watch has not delivered is read once for all who ask", async () => {
    const server = new FakeServer();
    server.objects.set("Bundle app/late", aBundle("late"));
    const { bundles } = readersOf(server, {});
    const found = await Promise.all([bundles.bundle("app", "late"), bundles.bundle("app", "late")]);
    expect(found.map((each) => each?.metadata.name)).toEqual(["late", "late"]);
    expect(server.requested).toEqual(["Bundle app/late"]);
  });

  test("[subscription-injection/AC-E17] an absent one is requested again after a second", async () => {
    const server = new FakeServer();
    const { bundles } = readersOf(server, {});
    for (const atMs of [0, 500, 1_100]) {
      server.nowMs = atMs;
      expect(await bundles.clusterBundle("nope")).toBeUndefined();
    }
    expect(server.requested).toHaveLength(2);
  });

  test("a bundle in the store costs no request", async () => {
    const server = new FakeServer();
    const { bundles } = readersOf(server, { bundles: [aBundle("there")] });
    expect((await bundles.bundle("app", "there"))?.metadata.name).toBe("there");
    expect(server.requested).toEqual([]);
  });
});

/** A watch whose answers a test decides. */
class FakeWatch implements AsyncDisposable {
  names: readonly string[] | undefined;
  isSynced = false;
  state = "watching";
  silentMs = 0;
  isEnded = false;

  get store(): unknown {
    const { names, isSynced } = this;
    return { isSynced, get: () => (names === undefined ? undefined : { keyNames: names }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isEnded = true;
    await Promise.resolve();
  }
}

function watchedIndex() {
  const server = new FakeServer();
  const watches: FakeWatch[] = [];
  const requests: string[] = [];
  const { client, system } = server;
  const watch: WatchKeys = ({ kind, namespace, fieldSelector, projection }) => {
    requests.push([kind.kind, namespace, fieldSelector, projection?.name].join(" "));
    const made = new FakeWatch();
    watches.push(made);
    return made as unknown as WatchHandle;
  };
  return { server, watches, requests, keys: new KeyIndex({ client, system, watch }) };
}

describe("the key index with watches", () => {
  const secret = { kind: "Secret", namespace: "app", name: "s" } as const;

  test.each(["Secret", "ConfigMap"] as const)(
    "[subscription-injection/AC-G3] long values of a %s do not even come",
    async (kind) => {
      const { server, keys } = watchedIndex();
      server.objects.set(`${kind} app/s`, { data: { a: "" } });
      expect(await keys.keysOf({ ...secret, kind })).toEqual({ kind: "keys", keys: ["a"] });
      expect(server.longestTextBytes).toBeLessThan(1_000);
      expect(keyNamesOf({ ...secret, kind }).projection.textLimitBytes).toBeLessThan(1_000);
    },
  );

  test("an object is watched by its name from its second use within a minute, and answered without a request", async () => {
    const { server, keys, watches, requests } = watchedIndex();
    server.objects.set("Secret app/s", { data: { old: "" } });
    for (const atMs of [0, 70_000]) {
      server.nowMs = atMs;
      await keys.keysOf(secret);
    }
    expect(requests).toEqual([]);
    server.nowMs = 80_000;
    await keys.keysOf(secret);
    expect(requests).toEqual(["Secret app metadata.name=s keyNames"]);
    const [watch] = watches;
    if (watch === undefined) throw new TypeError("not watched");
    // Nothing is known of it yet.
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["old"] });
    const requested = server.requested.length;
    Object.assign(watch, { isSynced: true, names: ["new"] });
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["new"] });
    expect(server.requested).toHaveLength(requested);
    expect(keys.watched).toBe(1);
  });

  test("what a watch does not have, or a silent one says, is requested; if that fails, its last word counts", async () => {
    const { server, keys, watches } = watchedIndex();
    for (let use = 0; use < 2; use += 1) await keys.keysOf(secret);
    const [watch] = watches;
    if (watch === undefined) throw new TypeError("not watched");
    watch.isSynced = true;
    server.objects.set("Secret app/s", { data: { fresh: "" } });
    server.nowMs = 2_000;
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["fresh"] });
    Object.assign(watch, { names: ["last"], silentMs: 91_000 });
    server.nowMs = 4_000;
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["fresh"] });
    server.failing = /Secret/;
    server.nowMs = 6_000;
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["last"] });
    watch.names = undefined;
    await expect(keys.keysOf(secret)).rejects.toThrow("refused");
  });

  test("watches are bounded: one that is not used makes room for another, one in use does not, and unused ones end", async () => {
    const { server, keys, watches } = watchedIndex();
    const use = async (at: number): Promise<void> => {
      for (let times = 0; times < 2; times += 1) await keys.keysOf({ ...secret, name: `s${at}` });
    };
    for (let at = 0; at < 201; at += 1) await use(at);
    expect(watches).toHaveLength(200);
    server.nowMs = 61_000;
    await use(200);
    expect(keys.watched).toBe(200);
    expect(watches.filter(({ isEnded }) => isEnded)).toEqual([watches[0]]);
    server.nowMs = 599_000;
    await keys.keysOf({ ...secret, name: "s7" });
    server.nowMs = 601_000;
    await use(300);
    expect(keys.watched).toBe(3);
    expect(watches[7]?.isEnded).toBe(false);
  });
});

describe("the key index", () => {
  const secret = { kind: "Secret", namespace: "app", name: "s" } as const;

  test("keeps names of keys for 30 s and no values", async () => {
    const server = new FakeServer();
    server.objects.set("Secret app/s", { data: { "b.pem": "c2VjcmV0", "a.pem": "c2VjcmV0" } });
    const { keys } = readersOf(server, {});
    for (const atMs of [0, 29_000, 31_000]) {
      server.nowMs = atMs;
      expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: ["a.pem", "b.pem"] });
    }
    expect(server.requested).toHaveLength(2);
    expect(keys.size).toBe(1);
  });

  test("reads both kinds of keys of a ConfigMap, and survives strange ones", async () => {
    const server = new FakeServer();
    const data = JSON.parse('{"__proto__":"x","b":"y"}') as object;
    server.objects.set("ConfigMap app/s", { data, binaryData: { a: "eA==" } });
    const { keys } = readersOf(server, {});
    const { kind, ...found } = await keys.keysOf({ ...secret, kind: "ConfigMap" });
    expect(kind).toBe("keys");
    expect(JSON.stringify(found)).toContain('"a"');
  });

  test("an absent object is requested again after a second, a failure immediately", async () => {
    const server = new FakeServer();
    const { keys } = readersOf(server, {});
    expect(await keys.keysOf(secret)).toEqual({ kind: "missing" });
    server.objects.set("Secret app/s", { data: {} });
    server.nowMs = 1_100;
    server.failing = /Secret/;
    await expect(keys.keysOf(secret)).rejects.toThrow("refused");
    server.failing = /^$/;
    expect(await keys.keysOf(secret)).toEqual({ kind: "keys", keys: [] });
  });

  test("what we may not read is a fact, not a failure", async () => {
    const server = new FakeServer();
    server.failing = /forbidden/;
    const { keys } = readersOf(server, {});
    expect(await keys.keysOf({ ...secret, name: "forbidden" })).toEqual({ kind: "forbidden" });
  });
});

describe("access", () => {
  test.each([
    { id: "AC-B8", spec: {}, account: "default" },
    { id: "AC-B8", spec: { serviceAccountName: "" }, account: "default" },
    { id: "AC-B9", spec: { serviceAccountName: "builder" }, account: "builder" },
  ])(
    "[subscription-injection/$id] requests account $account in the pod's namespace",
    async ({ spec, account }) => {
      const server = new FakeServer();
      const readers = readersOf(server, { clusterBundles: [aClusterBundle("cluster")] });
      await gatherFacts(podFor({ "inject-cluster-bundle": "cluster" }, spec), readers);
      expect(server.reviews).toEqual([
        {
          user: `system:serviceaccount:app:${account}`,
          groups: ["system:serviceaccounts", "system:serviceaccounts:app", "system:authenticated"],
          resourceAttributes: {
            verb: "get",
            group: "subscription.openshift.io",
            resource: "clusterbundles",
            name: "cluster",
            namespace: "app",
          },
        },
      ]);
    },
  );

  test.each([
    {
      name: "labelled, and usable",
      labels: always,
      annotations: {},
      denied: [],
      want: "allowed",
      requested: ["get clusterbundles", "use shares", "use sharedsecrets"],
    },
    {
      name: "labelled, and a Share may not be used",
      labels: always,
      annotations: {},
      denied: ["two"],
      want: "denied",
      requested: ["get clusterbundles", "use shares", "use sharedsecrets"],
    },
    {
      name: "named",
      labels: {},
      annotations: { "inject-cluster-bundle": "cluster" },
      denied: ["two"],
      want: "allowed",
      requested: ["get clusterbundles"],
    },
  ])(
    "[security/122] the Shares of a bundle that is $name",
    async ({ labels, annotations, denied, want, requested }) => {
      const server = new FakeServer();
      const apiVersion = "sharedresource.openshift.io/v1alpha1";
      const shares = [{ name: "one" }, { name: "two", kind: "SharedSecret", apiVersion }];
      const bundle = { ...aClusterBundle("cluster", labels), status: { shares } } as unknown as ClusterBundle;
      server.denied = denied;
      const facts = await gatherFacts(podFor(annotations), readersOf(server, { clusterBundles: [bundle] }));
      expect(facts.access.get("cluster")).toBe(want);
      const reviewed = server.reviews.map(
        (each) => (each as { resourceAttributes: { verb: string; resource: string } }).resourceAttributes,
      );
      expect(reviewed.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(requested);
    },
  );

  test("[subscription-injection/AC-B10] a failing question for a named bundle is thrown", async () => {
    const server = new FakeServer();
    server.failing = /review/;
    const readers = readersOf(server, { clusterBundles: [aClusterBundle("cluster")] });
    await expect(gatherFacts(podFor({ "inject-cluster-bundle": "cluster" }), readers)).rejects.toThrow(
      "refused",
    );
  });

  test("[subscription-injection/AC-C12] a failing question for a labelled bundle only leaves it out", async () => {
    const server = new FakeServer();
    server.failing = /review|Secret/;
    const readers = readersOf(server, { clusterBundles: [aClusterBundle("cluster", always)] });
    const facts = await gatherFacts(podFor({}), readers);
    expect(facts.access.get("cluster")).toBe("unknown");
    expect(facts.keys.size).toBe(0);
  });

  test("nothing is read of a bundle that the account may not use", async () => {
    const server = new FakeServer();
    server.isAllowed = false;
    const readers = readersOf(server, { clusterBundles: [aClusterBundle("cluster", always)] });
    await gatherFacts(podFor({ "inject-cluster-bundle": "hidden" }), readers);
    expect(server.requested).toEqual([]);
  });
});

describe("references", () => {
  test("[subscription-injection/AC-E14] an object of another namespace is never read for a Bundle", async () => {
    const server = new FakeServer();
    const crossing = aBundle("crossing", "s");
    const [reference] = crossing.spec.entitlements ?? [];
    const spec = { entitlements: [{ ...reference, namespace: "vault" }] };
    const readers = readersOf(server, { bundles: [{ ...crossing, spec } as Bundle] });
    await gatherFacts(podFor({ "inject-bundle": "crossing" }), readers);
    expect(server.requested).toEqual([]);
  });

  test("a Bundle and a ClusterBundle of one name do not stand in each other's way", async () => {
    const server = new FakeServer();
    server.isAllowed = false;
    server.objects.set("Bundle app/same", aBundle("same", "s"));
    const readers = readersOf(server, {});
    const annotations = { "inject-bundle": "same", "inject-cluster-bundle": "same" };
    const facts = await gatherFacts(podFor(annotations), readers);
    expect(facts.bundles.has("same")).toBe(true);
    expect(facts.access.get("same")).toBe("denied");
  });

  test("at most 16 reads of one pod are in progress at a time", async () => {
    const server = new FakeServer();
    let [open, most] = [0, 0];
    const keys = {
      keysOf: async () => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return { kind: "missing" } as const;
      },
    };
    const secrets = Array.from({ length: 32 }, (_, at) => `s${at}`);
    const readers = { ...readersOf(server, { bundles: [aBundle("many", ...secrets)] }), keys };
    const facts = await gatherFacts(podFor({ "inject-bundle": "many" }), readers);
    expect(facts.keys.size).toBe(32);
    expect(most).toBe(16);
  });

  test("of more than 256 objects the rest is not read, and the pod is refused", async () => {
    const server = new FakeServer();
    const many = Array.from({ length: 9 }, (_, at) =>
      aBundle(`b${at}`, ...Array.from({ length: 32 }, (__, secret) => `s${at}-${secret}`)),
    );
    const readers = readersOf(server, { bundles: many });
    const request = podFor({ "inject-bundle": many.map(({ metadata }) => metadata.name).join(",") });
    for (const { spec } of many)
      for (const { name } of spec.entitlements ?? []) server.objects.set(`Secret app/${name}`, { data: {} });
    const facts = await gatherFacts(request, readers);
    expect(server.requested).toHaveLength(256);
    const { admission } = decideInjection(request.pod, facts, readSubscriptionSettings({}));
    expect(admission).toMatchObject({ kind: "deny", causes: [{ reason: "TooManyReferences" }] });
  });

  test("[security/38] a bundle that changes meanwhile: objects and recorded generation are those of one reading", async () => {
    const server = new FakeServer();
    const versions = [1, 2, 3].map((generation) => {
      const { metadata, ...rest } = aBundle("b", `s${generation}`);
      return { ...rest, metadata: { ...metadata, generation } };
    });
    for (const at of [1, 2, 3]) server.objects.set(`Secret app/s${at}`, { data: { [`k${at}`]: "" } });
    // Each look at the store shows a newer one.
    const store = { ...storeOf(), get: () => versions.shift() } as ReadStore<Bundle>;
    const bundles = new BundleReader({
      client: server.client,
      system: server.system,
      bundles: store,
      clusterBundles: storeOf(),
    });
    const request = podFor({ "inject-bundle": "b" });
    const facts = await gatherFacts(request, { ...readersOf(server, {}), bundles });
    const { admission } = decideInjection(request.pod, facts, readSubscriptionSettings({}));
    expect(server.requested).toEqual(["Secret app/s1"]);
    expect(JSON.stringify(admission)).toContain('{\\"bundles\\":{\\"b\\":1}}');
    expect(JSON.stringify(admission)).not.toContain("s2");
  });

  test("nothing more is read when the API server waits no longer", async () => {
    const server = new FakeServer();
    const readers = readersOf(server, { bundles: [aBundle("b", "s")] });
    const request = { ...podFor({ "inject-bundle": "b" }), signal: AbortSignal.abort() };
    await expect(gatherFacts(request, readers)).rejects.toThrow("abort");
    expect(server.requested).toEqual([]);
  });

  test("[subscription-injection/AC-E1] nothing is read for a mirror pod", async () => {
    const server = new FakeServer();
    const readers = readersOf(server, {});
    await gatherFacts(podFor({ "inject-bundle": "b", "kubernetes.io/config.mirror": "x" }), readers);
    expect(server.requested).toEqual([]);
  });
});
