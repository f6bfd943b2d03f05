import { ALWAYS_INJECT_LABEL, type Bundle, type ClusterBundle } from "@quartermaster/api";
import {
  AccessCache,
  type ErrorClass,
  type KubeObject,
  type Live,
  type ReadStore,
} from "@quartermaster/runtime";
import { apiError, RecordedApi } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { BundleReader } from "../../src/facts/bundle-reader.ts";
import { gatherFacts } from "../../src/facts/gather-facts.ts";
import { KeyIndex } from "../../src/facts/key-index.ts";
import { type WatchHandle, WatchedKeys } from "../../src/facts/watched-keys.ts";
import { decideInjection } from "../../src/injection/decide-injection.ts";
import { viewPod } from "../../src/injection/pod-view.ts";
import { readSubscriptionSettings } from "../../src/subscription-settings.ts";
import { aPod } from "../support/injection-cases.ts";

const identity = { kind: "Secret", namespace: "app", name: "s" } as const;

function aSecret(...keys: readonly string[]): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s", namespace: "app" },
    data: Object.fromEntries(keys.map((key) => [key, ""])),
  } as KubeObject;
}

/** A clock that the test moves. */
function aClock() {
  const clock = { nowMs: 1_000_000, monotonicMs: () => clock.nowMs };
  return clock;
}

describe("what is known of a Secret while the cache is warm", () => {
  test.each([
    { name: "its keys are believed for 30 s", given: aSecret("old"), freshMs: 30_000 },
    { name: "that it is not there for 1 s", given: undefined, freshMs: 1_000 },
    { name: "that we may not read it for 150 ms", given: "forbidden", freshMs: 150 },
  ] as const)("$name, and then the second version counts", async ({ given, freshMs }) => {
    const clock = aClock();
    const api = new RecordedApi(typeof given === "object" ? [given] : []);
    api.beforeRead = () => {
      if (given === "forbidden" && clock.nowMs === 1_000_000) throw apiError("forbidden");
    };
    const index = new KeyIndex({ client: api.client, system: clock });
    const first = await index.keysOf(identity);
    api.put(aSecret("new"));
    clock.nowMs += freshMs - 1;
    expect(await index.keysOf(identity)).toEqual(first);
    clock.nowMs += 1;
    expect(await index.keysOf(identity)).toEqual({ kind: "keys", keys: ["new"] });
  });

  test.each([
    { name: "a watch that speaks is believed", state: "watching", silentMs: 89_999, want: ["watched"] },
    { name: "a watch that is silent for 90 s is not", state: "watching", silentMs: 90_000, want: ["new"] },
    { name: "a watch that is being opened again is not", state: "listing", silentMs: 0, want: ["new"] },
    {
      name: "a watch that has shown nothing yet is not, and what was just read counts",
      state: "watching",
      silentMs: 0,
      isSynced: false,
      want: ["old"],
    },
  ])("$name", async ({ state, silentMs, isSynced = true, want }) => {
    const clock = aClock();
    const api = new RecordedApi([aSecret("old")]);
    const found = { metadata: { name: "s", namespace: "app" }, keyNames: ["watched"] };
    const store = { isSynced, get: () => (isSynced ? found : undefined) };
    const handle = { store, state, silentMs } as unknown as WatchHandle;
    const index = new KeyIndex({ client: api.client, system: clock, watch: () => handle });
    await index.keysOf(identity);
    await index.keysOf(identity);
    api.put(aSecret("new"));
    expect(await index.keysOf(identity)).toEqual({ kind: "keys", keys: want });
  });

  test.each(["transient", "timeout"] as const)(
    "what a silent watch said last counts while the server cannot be queried (%s), and nothing without a watch",
    async (errorClass: ErrorClass) => {
      const clock = aClock();
      const api = new RecordedApi([aSecret("old")]);
      const found = { metadata: { name: "s", namespace: "app" }, keyNames: ["watched"] };
      const store = { isSynced: true, get: () => found };
      const handle = { store, state: "watching", silentMs: 100_000 } as unknown as WatchHandle;
      const watched = new KeyIndex({ client: api.client, system: clock, watch: () => handle });
      await watched.keysOf(identity);
      await watched.keysOf(identity);
      api.beforeRead = () => {
        throw apiError(errorClass);
      };
      expect(await watched.keysOf(identity)).toEqual({ kind: "keys", keys: ["watched"] });
      const plain = new KeyIndex({ client: api.client, system: clock });
      await expect(plain.keysOf(identity)).rejects.toMatchObject({ class: errorClass });
    },
  );
});

describe("objects that are watched because they are used often", () => {
  const object = (name: string) => ({ kind: "Secret", namespace: "app", name }) as const;
  function watching(limit: number) {
    const clock = aClock();
    const open = new Set<string>();
    const keys = new WatchedKeys({
      system: clock,
      limit,
      watch: ({ fieldSelector = "" }) => {
        open.add(fieldSelector);
        return {
          store: { isSynced: false },
          [Symbol.asyncDispose]: async () => {
            await Promise.resolve();
            open.delete(fieldSelector);
          },
        } as unknown as WatchHandle;
      },
    });
    return { clock, keys, names: () => [...open].map((each) => each.replace("metadata.name=", "")) };
  }

  test.each([
    { name: "a second use within a minute opens one", gapMs: 59_999, want: ["a"] },
    { name: "one a minute later does not", gapMs: 60_000, want: [] },
  ])("$name", ({ gapMs, want }) => {
    const { clock, keys, names } = watching(10);
    keys.use(object("a"));
    clock.nowMs += gapMs;
    keys.use(object("a"));
    expect(names()).toEqual(want);
  });

  test.each([
    { name: "is kept until ten minutes after its last use", gapMs: 599_999, want: ["a"] },
    { name: "ends then", gapMs: 600_000, want: [] },
  ])("$name", async ({ gapMs, want }) => {
    const { clock, keys, names } = watching(10);
    keys.use(object("a"));
    keys.use(object("a"));
    clock.nowMs += gapMs;
    keys.use(object("other"));
    await Promise.resolve();
    expect(names()).toEqual(want);
  });

  test.each([1, 2, 3, 4])(
    "%i at a time, and one that was not used for a minute makes room",
    async (limit) => {
      const { clock, keys, names } = watching(limit);
      const all = Array.from({ length: limit }, (_, at) => `o${at}`);
      for (const name of [...all, ...all]) keys.use(object(name));
      for (let use = 0; use < 2; use += 1) keys.use(object("late"));
      expect(names()).toEqual(all);
      clock.nowMs += 60_000;
      for (let use = 0; use < 2; use += 1) keys.use(object("late"));
      await Promise.resolve();
      expect(names().toSorted()).toEqual(["late", ...all.slice(1)].toSorted());
    },
  );
});

describe("an object of a bundle that no one requested, which cannot be read", () => {
  const bundle = {
    metadata: { name: "auto", namespace: "app", generation: 1, labels: { [ALWAYS_INJECT_LABEL]: "true" } },
    spec: {
      entitlements: [
        { name: "s", optional: true },
        { name: "t", optional: false },
      ],
    },
  } as unknown as Bundle;
  const store = <O extends KubeObject>(...objects: readonly O[]): ReadStore<O> =>
    ({
      get: ({ name }: { name: string }) => objects.find(({ metadata }) => metadata.name === name),
      list: () => objects,
      listBy: () => objects,
    }) as unknown as ReadStore<O>;
  test.each([
    {
      name: "is unknown, and the bundle is left out",
      errorClass: "transient",
      want: { facts: "unknown", result: "skipped" },
    },
    {
      name: "is missing when the server says so, and the bundle goes without it",
      errorClass: undefined,
      want: { facts: "missing", result: "injected" },
    },
  ] as const)("$name", async ({ errorClass, want }) => {
    const other = { ...aSecret("k"), metadata: { name: "t", namespace: "app" } };
    const api = new RecordedApi([other]);
    api.beforeRead = (object) => {
      if (errorClass !== undefined && object.endsWith("/s")) throw apiError(errorClass);
    };
    const { client } = api;
    const system = aClock();
    const facts = await gatherFacts(
      { pod: viewPod(aPod({})), namespace: "app", signal: new AbortController().signal },
      {
        bundles: new BundleReader({ client, system, bundles: store(bundle), clusterBundles: store() }),
        keys: new KeyIndex({ client, system }),
        access: new AccessCache({ client, system }),
      },
    );
    expect([...facts.keys.values()]).toEqual([{ kind: want.facts }, { kind: "keys", keys: ["k"] }]);
    const { result } = decideInjection(viewPod(aPod({})), facts, readSubscriptionSettings({}));
    expect(result).toBe(want.result);
  });
});

describe("pods of one account", () => {
  const shared = {
    apiVersion: "subscription.openshift.io/v1alpha1",
    kind: "ClusterBundle",
    metadata: { name: "cb", generation: 1 },
    spec: { entitlements: [{ name: "s", namespace: "app", optional: false }] },
    status: { shares: [{ name: "share", ref: identity }] },
  } as unknown as Live<ClusterBundle>;
  const request = {
    pod: viewPod(aPod({ annotations: { "inject-cluster-bundle": "cb" } })),
    namespace: "app",
    signal: new AbortController().signal,
  };
  function serving(list: () => readonly Live<ClusterBundle>[]) {
    const clock = aClock();
    const api = new RecordedApi([aSecret("k")]);
    let reviews = 0;
    api.respondRaw = () => {
      reviews += 1;
      return { status: { allowed: true } };
    };
    const { client } = api;
    const store = { get: () => list()[0], list, listBy: list } as unknown as ReadStore<ClusterBundle>;
    const none = { get: () => undefined, list: () => [], listBy: () => [] } as unknown as ReadStore<Bundle>;
    const readers = {
      bundles: new BundleReader({ client, system: clock, bundles: none, clusterBundles: store }),
      keys: new KeyIndex({ client, system: clock }),
      access: new AccessCache({ client, system: clock }),
    };
    const decideOne = async () =>
      decideInjection(request.pod, await gatherFacts(request, readers), readSubscriptionSettings({}));
    return { clock, api, decideOne, reviews: () => reviews };
  }

  test("[subscription-injection/AC-G2] 1,000 that come at 100 a second cost at most five access reviews", async () => {
    const { clock, decideOne, reviews } = serving(() => [shared]);
    for (let count = 0; count < 1_000; count += 20) {
      const all = await Promise.all(Array.from({ length: 20 }, decideOne));
      expect(all.every(({ result }) => result === "injected")).toBe(true);
      clock.nowMs += 200;
    }
    expect(reviews()).toBeGreaterThan(0);
    expect(reviews()).toBeLessThanOrEqual(5);
  });

  test("[subscription-injection/AC-B14] a ClusterBundle that is deleted is refused to the next pod, while everything about it is cached", async () => {
    let listed = [shared];
    const { decideOne } = serving(() => listed);
    expect((await decideOne()).result).toBe("injected");
    listed = [];
    const { result, reason } = await decideOne();
    expect({ result, reason }).toEqual({ result: "rejected", reason: "ClusterBundleNotFound" });
  });
});
