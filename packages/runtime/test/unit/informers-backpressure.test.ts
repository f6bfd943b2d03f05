import { expect, test } from "vitest";

import { objectOf } from "../../src/informers/informer-event.ts";
import { Informer } from "../../src/informers/informer.ts";
import { keyOf, type KubeObject } from "../../src/object/kube-object.ts";
import { WorkQueue } from "../../src/queue/work-queue.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { configMaps } from "../support/kinds.ts";
import { bookmark, frame } from "../support/scripted-source.ts";

const objects = 50;
const events = 50_000;

function anObject(at: number, version: number): KubeObject {
  const metadata = { name: `o-${at}`, namespace: "n", resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

test("[runtime/RT-08] 50,000 events before a slow consumer become at most one key per object, with the latest state", async () => {
  const system = realSystem();
  const reported = Promise.withResolvers<undefined>();
  let readAhead = 0;
  async function* body(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from(bookmark("10", "end")));
    for (let at = 0; at < events; at += 100) {
      const lines = Array.from({ length: 100 }, (_, more) =>
        frame("MODIFIED", anObject((at + more) % objects, 11 + at + more)),
      );
      yield Buffer.from(lines.join(""));
      readAhead += 100;
    }
    reported.resolve(undefined);
  }
  let opened = 0;
  const informer = new Informer({
    target: { kind: configMaps },
    view: {},
    system,
    freeze: false,
    observer: {},
    source: {
      open: async ({ signal }) => {
        opened += 1;
        if (opened === 1) return await Promise.resolve(body());
        await system.sleep(60_000, signal);
        return body();
      },
      list: () => {
        throw new Error("no list is needed");
      },
    },
  });
  const queue = new WorkQueue({ system });
  let deepest = 0;
  let heard = 0;
  informer.addHandler((event) => {
    heard += 1;
    queue.add(keyOf(objectOf(event).metadata));
    deepest = Math.max(deepest, queue.depth);
  });
  informer.start();
  const stop = new AbortController();
  const latest = new Map<string, string | undefined>();
  const slow = async (): Promise<void> => {
    for (let key = await queue.take(stop.signal); key !== undefined; key = await queue.take(stop.signal)) {
      await system.sleep(5);
      latest.set(key, informer.store.getByKey(key)?.metadata.resourceVersion);
      queue.done(key);
    }
  };
  const consuming = slow();
  await reported.promise;
  expect(readAhead).toBe(events);
  while (queue.size > 0) await system.sleep(10);
  stop.abort();
  await Promise.all([consuming, informer.stop()]);
  expect(heard).toBe(events);
  expect(deepest).toBeLessThanOrEqual(objects);
  const want = Array.from({ length: objects }, (_, at) => [`n/o-${at}`, String(11 + events - objects + at)]);
  expect(Object.fromEntries(latest)).toEqual(Object.fromEntries(want));
});
