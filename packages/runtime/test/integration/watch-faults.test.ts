import {
  aConfigMap,
  closeAfter,
  delayEvents,
  eventually,
  expireAfter,
  type FaultProxy,
  hideWindow,
  holdUntil,
  htmlPage,
  joinFrames,
  joinSharedCluster,
  makeNamespace,
  repeatEvents,
  type RequestMatch,
  splitEvery,
  startFaultProxy,
  type WatchTransform,
} from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type InformerHandle, InformerPool } from "../../src/informers/informer-pool.ts";
import type { Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { configMaps, secrets } from "../support/kinds.ts";

const cluster = joinSharedCluster();
let proxy: FaultProxy;

beforeAll(async () => {
  proxy = await startFaultProxy({ upstream: cluster.admin });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

const watches =
  (plural: string): RequestMatch =>
  ({ verb, resource }) =>
    verb === "watch" && resource === plural;

const facts =
  (plural: string): RequestMatch =>
  ({ verb, resource }) =>
    (verb === "watch" || verb === "list") && resource === plural;

interface Scene extends AsyncDisposable {
  readonly namespace: string;
  watch<O extends KubeObject>(kind: Kind<O>): InformerHandle<O>;
}

async function setUp(): Promise<Scene> {
  const resources = new AsyncDisposableStack();
  resources.defer(() => {
    proxy.heal();
  });
  const { name: namespace } = resources.use(await makeNamespace(cluster.api, "watches"));
  const { transport } = resources.use(connect({ ...cluster.admin, ...proxy.access }));
  const pool = resources.use(new InformerPool({ transport, system: realSystem(), freeze: true }));
  return {
    namespace,
    watch: (kind) => pool.acquire({ kind, namespace }),
    [Symbol.asyncDispose]: async () => {
      await resources.disposeAsync();
    },
  };
}

const path = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;

/** Makes ten, changes each second one, deletes each third one; a name has a character of four bytes in its data. */
async function stir(namespace: string): Promise<void> {
  for (let at = 0; at < 10; at += 1) {
    await put(namespace, `o-${at}`, "first 🚢");
    if (at % 2 === 0) await put(namespace, `o-${at}`, "second 🚢");
    if (at % 3 === 0) await cluster.api.send({ method: "DELETE", path: path(namespace, `o-${at}`) });
  }
}

async function put(namespace: string, name: string, text: string): Promise<void> {
  await cluster.api.apply(path(namespace, name), aConfigMap({ name, namespace, data: { text } }));
}

function shown(objects: readonly KubeObject[]): readonly string[] {
  return objects
    .map((object) => {
      const data: unknown = "data" in object ? object.data : undefined;
      return `${object.metadata.name}@${object.metadata.resourceVersion} ${JSON.stringify(data)}`;
    })
    .toSorted();
}

async function serverShows(namespace: string): Promise<readonly string[]> {
  const { body } = await cluster.api.send({ path: `/api/v1/namespaces/${namespace}/configmaps` });
  const { items } = JSON.parse(body) as { readonly items: readonly KubeObject[] };
  return shown(items);
}

const isOf =
  (name: string) =>
  (frame: string): boolean =>
    frame.includes(`"name":"${name}"`);

interface Case {
  readonly name: string;
  readonly given: WatchTransform;
  /** How many streams it is done to (default: the first one). */
  readonly times?: number;
}

const cases: readonly Case[] = [
  { name: "[faults/W1] when events come 0.1 s late", given: delayEvents(100) },
  { name: "[faults/W1] when events come a second late", given: delayEvents(1_000) },
  { name: "[faults/W1] when events come 10 s late", given: delayEvents(10_000) },
  {
    name: "[faults/W2] when some are hidden, then the stream closes",
    given: hideWindow(isOf("o-3"), isOf("o-6")),
  },
  { name: "[faults/W3] when each comes twice, and the past is replayed", given: repeatEvents(5) },
  { name: "[faults/W5] when the version expires inside the stream", given: expireAfter(4) },
  {
    name: "[faults/W6] when streams are closed every tenth of a second",
    given: closeAfter(100),
    times: Number.POSITIVE_INFINITY,
  },
  { name: "[faults/W7] when bytes come in sevens", given: splitEvery(7) },
  { name: "[faults/W7] when bytes come one by one", given: splitEvery(1) },
  { name: "[faults/W7] when events come three in a chunk", given: joinFrames(3) },
];

describe("a store behind the fault proxy is what the API server has", () => {
  test.each(cases)("$name", async ({ given, times = 1 }) => {
    await using scene = await setUp();
    const injected = proxy.inject(watches("configmaps"), { kind: "watch", transform: given }, times);
    const handle = scene.watch(configMaps);
    const backwards: string[] = [];
    handle.addHandler((event) => {
      if (event.type === "updated" && isOlder(event.new, event.old)) backwards.push(event.new.metadata.name);
    });
    await stir(scene.namespace);
    const want = await serverShows(scene.namespace);
    // The rest of a chunk waits for its fellows for ever: more of them come.
    await put(scene.namespace, "z-1", "more");
    await put(scene.namespace, "z-2", "more");
    await put(scene.namespace, "z-3", "more");
    const isRest = (line: string): boolean => line.startsWith("z-");
    await eventually(
      (see) => {
        const has = see(shown(handle.store.list())).filter((line) => !isRest(line));
        return JSON.stringify(has) === JSON.stringify(want);
      },
      { withinMs: 20_000 },
    );
    await eventually((see) => see(injected.hits) >= Math.min(times, 3));
    expect(backwards).toEqual([]);
  });

  test("[faults/W4] when one kind is held back while another continues, and catches up when let go", async () => {
    await using scene = await setUp();
    const gate = Promise.withResolvers<void>();
    proxy.inject(watches("configmaps"), { kind: "watch", transform: holdUntil(gate.promise) });
    const held = scene.watch(configMaps);
    const free = scene.watch(secrets);
    await free.store.synced({ signal: AbortSignal.timeout(10_000) });
    await put(scene.namespace, "early", "x");
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "late" } };
    await cluster.api.apply(`/api/v1/namespaces/${scene.namespace}/secrets/late`, secret);
    await eventually((see) => see(shown(free.store.list())).length === 1);
    expect(held.store.size).toBe(0);
    gate.resolve();
    await eventually((see) => see(shown(held.store.list())).some((line) => line.startsWith("early@")));
  });

  test("[faults/W7] when an event is 1.4 MB long", async () => {
    await using scene = await setUp();
    const handle = scene.watch(configMaps);
    await handle.store.synced({ signal: AbortSignal.timeout(10_000) });
    const sizes: number[] = [];
    const measured: WatchTransform = async function* measured(frames) {
      for await (const frame of frames) {
        sizes.push(frame.length);
        yield* [frame.subarray(0, 700_001), frame.subarray(700_001)];
      }
    };
    proxy.inject(watches("configmaps"), { kind: "watch", transform: measured });
    proxy.cutConnections();
    // The server writes each of them with six characters.
    const text = "<".repeat(250_000);
    await put(scene.namespace, "long", text);
    await eventually(
      () => handle.store.get({ name: "long", namespace: scene.namespace })?.data?.["text"] === text,
    );
    expect(Math.max(...sizes)).toBeGreaterThan(1_400_000);
  });

  test("[faults/W5] when the first list is refused as expired", async () => {
    await using scene = await setUp();
    proxy.inject(watches("configmaps"), { kind: "answer", status: 410, reason: "Expired" });
    await put(scene.namespace, "there", "x");
    const handle = scene.watch(configMaps);
    await eventually((see) => see(shown(handle.store.list())).some((line) => line.startsWith("there@")));
  });

  test.each([
    { name: "a page says 404", fault: htmlPage(404) },
    { name: "a page says 410", fault: htmlPage(410) },
    {
      name: "a gateway's JSON says 404",
      fault: { kind: "answer", status: 404, body: '{"message":"no route"}' } as const,
    },
    {
      name: "a gateway's JSON says 200",
      fault: { kind: "answer", status: 200, body: '{"message":"welcome"}' } as const,
    },
  ])("when $name instead of the server: nothing counts as deleted", async ({ fault }) => {
    await using scene = await setUp();
    await put(scene.namespace, "there", "x");
    proxy.inject(watches("configmaps"), { kind: "watch", transform: expireAfter(4) });
    const injected = proxy.inject(facts("configmaps"), fault, 2);
    const handle = scene.watch(configMaps);
    await handle.store.synced({ signal: AbortSignal.timeout(10_000) });
    const deleted: string[] = [];
    handle.addHandler((event) => {
      if (event.type === "deleted") deleted.push(event.old.metadata.name);
    });
    await put(scene.namespace, "more", "x");
    await put(scene.namespace, "most", "x");
    await eventually(() => injected.hits === 2, { withinMs: 20_000 });
    await put(scene.namespace, "last", "x");
    await eventually((see) => see(shown(handle.store.list())).some((line) => line.startsWith("last@")), {
      withinMs: 20_000,
    });
    expect(deleted).toEqual([]);
  });
});

function isOlder(one: KubeObject, other: KubeObject): boolean {
  return BigInt(one.metadata.resourceVersion ?? "0") < BigInt(other.metadata.resourceVersion ?? "0");
}
