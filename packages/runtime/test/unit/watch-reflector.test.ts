import { describe, expect, onTestFinished, test } from "vitest";

import { ApiError } from "../../src/errors.ts";
import { type InformerEvent, objectOf } from "../../src/informers/informer-event.ts";
import { Informer } from "../../src/informers/informer.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import type { WatchState } from "../../src/watch/watch-state.ts";
import { configMaps } from "../support/kinds.ts";
import {
  bookmark,
  errorFrame,
  frame,
  ScriptedSource,
  type ScriptedStream,
} from "../support/scripted-source.ts";

function anObject(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "n", resourceVersion } };
}

interface Scene {
  readonly system: VirtualSystem;
  readonly source: ScriptedSource;
  readonly informer: Informer;
  readonly events: string[];
  readonly states: WatchState[];
  readonly counts: string[];
  readonly troubles: unknown[];
}

function play(streams: readonly ScriptedStream[], listed: readonly KubeObject[] = []): Scene {
  const system = new VirtualSystem();
  const source = new ScriptedSource(streams, listed);
  const states: WatchState[] = [];
  const counts: string[] = [];
  const events: string[] = [];
  const troubles: unknown[] = [];
  const informer = new Informer({
    target: { kind: configMaps },
    view: {},
    source,
    system,
    freeze: true,
    observer: {
      stateChanged: ({ state, error }) => {
        states.push(state);
        if (error !== undefined) troubles.push(error);
      },
      watchRestarted: ({ why }) => counts.push(why),
      relisted: () => counts.push("relist"),
      decodeFailed: () => counts.push("decode"),
      quarantined: ({ object }) => counts.push(`quarantined ${object.metadata.name}`),
    },
  });
  informer.addHandler((event: InformerEvent) => {
    const { metadata } = objectOf(event);
    const initial = event.isInitial ? " initial" : "";
    events.push(`${event.type} ${metadata.name}@${metadata.resourceVersion}${initial}`);
  });
  informer.start();
  onTestFinished(async () => {
    await informer.stop();
  });
  return { system, source, informer, events, states, counts, troubles };
}

const first = {
  chunks: [frame("ADDED", anObject("a", "5")), frame("ADDED", anObject("b", "3")), bookmark("7", "end")],
};
const invalid = new ApiError("watch: 422", { class: "invalid", status: 422, mayHaveActed: false });
const broken = new ApiError("watch: broke", { class: "transient", mayHaveActed: true });

describe("a reflector", () => {
  test("syncs by initial events and follows the same stream", async () => {
    const more = [
      frame("MODIFIED", anObject("a", "8")),
      frame("DELETED", anObject("b", "9")),
      bookmark("12"),
    ];
    const scene = play([{ chunks: [...first.chunks, ...more] }]);
    await scene.system.settle();
    expect(scene.source.queries).toEqual([undefined]);
    expect(scene.events).toEqual(["added a@5 initial", "added b@3 initial", "updated a@8", "deleted b@9"]);
    expect(scene.informer.store.isSynced).toBe(true);
    expect(scene.states).toEqual(["listing", "watching"]);
  });

  test("resumes from the last version when the server ends the stream, without requesting everything again", async () => {
    const scene = play([
      { chunks: [...first.chunks, bookmark("20")], end: "close" },
      { chunks: [frame("MODIFIED", anObject("a", "21"))] },
    ]);
    await scene.system.advance(5_000);
    expect(scene.source.queries).toEqual([undefined, "20"]);
    expect(scene.events.slice(2)).toEqual(["updated a@21"]);
  });

  test("[runtime/RT-04] takes silence for a dead connection and continues from the last version, without a relist", async () => {
    const scene = play([{ chunks: [...first.chunks, bookmark("20")] }, { chunks: [] }]);
    await scene.system.advance(29_000);
    expect(scene.source.queries).toEqual([undefined]);
    await scene.system.advance(150_000);
    expect(scene.source.queries.slice(0, 2)).toEqual([undefined, "20"]);
    expect(scene.source.lists).toBe(0);
    expect(scene.counts).not.toContain("relist");
  });

  test("lists in pages where initial events are refused, and stays with that", async () => {
    const listed = [anObject("a", "5")];
    const scene = play([{ refuse: invalid }, { chunks: [errorFrame(410)] }, { chunks: [] }], listed);
    await scene.system.settle();
    expect(scene.events).toEqual(["added a@5 initial"]);
    await scene.system.advance(5_000);
    expect(scene.source.lists).toBe(2);
    expect(scene.source.queries).toEqual([undefined, "10", "10"]);
    expect(scene.events).toHaveLength(1);
  });

  test("lists in pages when the end of the initial events does not come", async () => {
    const scene = play(
      [{ chunks: [frame("ADDED", anObject("a", "5"))] }, { chunks: [] }],
      [anObject("a", "5")],
    );
    await scene.system.advance(31_000);
    expect(scene.source.lists).toBe(1);
    expect(scene.informer.store.isSynced).toBe(true);
    expect(scene.events).toEqual(["added a@5 initial"]);
  });

  test.each([
    { name: "a 410 inside the stream", streams: [{ chunks: [errorFrame(410)] }] },
    {
      name: "a 410 as answer",
      streams: [{ refuse: new ApiError("gone", { class: "gone", status: 410, mayHaveActed: false }) }],
    },
    { name: "garbage in the stream", streams: [{ chunks: ["<html>\n"] }] },
  ])("requests everything again after $name, and reports what has gone meanwhile", async ({ streams }) => {
    const again = { chunks: [frame("ADDED", anObject("a", "5")), bookmark("30", "end")] };
    const scene = play([{ ...first, end: "close" }, ...streams, again]);
    await scene.system.advance(5_000);
    expect(scene.source.queries.slice(0, 3)).toEqual([undefined, "7", undefined]);
    expect(scene.events.slice(2)).toEqual(["deleted b@3"]);
    expect(scene.counts).toContain("relist");
  });

  test("believes a cluster whose history was set back", async () => {
    const tooLarge = errorFrame(504, { details: { causes: [{ reason: "ResourceVersionTooLarge" }] } });
    const again = { chunks: [frame("ADDED", anObject("a", "2")), bookmark("4", "end"), bookmark("6")] };
    const scene = play([
      { chunks: first.chunks, end: "close" },
      { chunks: [tooLarge] },
      { ...again, end: broken },
      {},
    ]);
    await scene.system.advance(10_000);
    expect(scene.events.slice(2)).toEqual(["updated a@2 initial", "deleted b@3"]);
    expect(scene.source.queries.at(-1)).toBe("6");
  });

  test("after a broken connection asks once whether the server has reached the version, and not after a clean end", async () => {
    const scene = play([{ ...first, end: broken }, { chunks: [], end: "close" }, { chunks: [] }]);
    await scene.system.advance(20_000);
    expect(scene.source.queries).toEqual([undefined, "7", "7"]);
    expect(scene.source.confirmations).toEqual(["7"]);
  });

  test("[faults/W8] stays with a stream that brings only bookmarks for 30 minutes", async () => {
    const system = new VirtualSystem();
    const source = new ScriptedSource([]);
    source.open = async ({ resourceVersion, signal }) => {
      source.queries.push(resourceVersion);
      return await Promise.resolve(bookmarksOnly(system, signal));
    };
    const counts: string[] = [];
    const informer = new Informer({
      target: { kind: configMaps },
      view: {},
      source,
      system,
      freeze: true,
      observer: { watchRestarted: ({ why }) => counts.push(why), relisted: () => counts.push("relist") },
    });
    const events: string[] = [];
    informer.addHandler(({ type }) => events.push(type));
    informer.start();
    onTestFinished(async () => {
      await informer.stop();
    });
    await system.advance(30 * 60_000);
    expect({ counts, queries: source.queries, state: informer.state }).toEqual({
      counts: [],
      queries: [undefined],
      state: "watching",
    });
    expect(events).toEqual(["added"]);
    expect(informer.store.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
    // The stream ends after 30 minutes; what it said last is where the next one continues.
    await system.advance(60_000);
    expect(source.queries).toEqual([undefined, "130"]);
  });

  test("[faults/5] believes a server that has not reached the version: a watch from there would only be silent", async () => {
    const tooLarge = new ApiError("list: 504", {
      class: "timeout",
      status: 504,
      reason: "ResourceVersionTooLarge",
      mayHaveActed: false,
    });
    const again = { chunks: [frame("ADDED", anObject("a", "2")), bookmark("4", "end")] };
    const scene = play([{ ...first, end: broken }, again]);
    scene.source.doubts.push(tooLarge);
    await scene.system.advance(20_000);
    expect(scene.source.queries).toEqual([undefined, undefined]);
    expect(scene.events.slice(2)).toEqual(["updated a@2 initial", "deleted b@3"]);
    expect(scene.counts).toEqual(["failed", "versionTooLarge", "relist"]);
  });

  test.each([
    { name: "a refusal says nothing of the version", doubt: { status: 403 }, requested: ["7"] },
    { name: "no response leaves it in doubt", doubt: {}, requested: ["7", "7"] },
  ])("$name", async ({ doubt, requested }) => {
    const scene = play([{ ...first, end: broken }, { chunks: [] }]);
    scene.source.doubts.push(new ApiError("list", { class: "transient", mayHaveActed: false, ...doubt }));
    await scene.system.advance(20_000);
    expect(scene.source.confirmations).toEqual(requested);
    expect(scene.source.queries).toEqual([undefined, "7"]);
  });

  test("backs off longer each time, by at most 30 s, and begins again after two healthy minutes", async () => {
    const refused = new ApiError("no", { class: "transient", status: 500, mayHaveActed: false });
    const scene = play([{ refuse: refused }]);
    await scene.system.advance(60_000);
    expect(scene.source.queries.length).toBeGreaterThan(4);
    expect(scene.source.queries.length).toBeLessThan(9);
    const before = scene.source.queries.length;
    await scene.system.advance(300_000);
    expect(scene.source.queries.length - before).toBeGreaterThanOrEqual(10);
  });

  test("a connection that cannot be made is tried every few seconds, and a delay of the server is respected", async () => {
    const throttled = new ApiError("later", {
      class: "tooManyRequests",
      status: 429,
      retryAfterMs: 50_000,
      mayHaveActed: false,
    });
    const scene = play([{ ...first, end: broken }, { refuse: broken }]);
    await scene.system.advance(60_000);
    expect(scene.source.queries.length).toBeGreaterThan(12);
    const later = play([{ refuse: throttled }]);
    await later.system.advance(49_000);
    expect(later.source.queries).toHaveLength(1);
  });

  test("[runtime/RT-12] waits for a kind that is not served, empties its store, and syncs when poked", async () => {
    const notServed = new ApiError("404", {
      class: "notFound",
      status: 404,
      reason: "KindNotServed",
      mayHaveActed: false,
    });
    const scene = play([{ ...first, end: "close" }, { refuse: notServed }, { refuse: notServed }, first]);
    await scene.system.advance(500);
    expect(scene.states.at(-1)).toBe("pending");
    expect(scene.events.slice(2)).toEqual(["deleted a@5", "deleted b@3"]);
    scene.informer.retryNow();
    await scene.system.advance(30_000);
    expect(scene.states.at(-1)).toBe("watching");
    expect(scene.events.slice(4)).toEqual(["added a@5 initial", "added b@3 initial"]);
  });

  test("[runtime/RT-05] leaves an object out that is nested too deeply, says so once, and takes it in when it is sound", async () => {
    const deep = (version: string): string => {
      const nested = '{"a":'.repeat(2_000) + "1" + "}".repeat(2_000);
      return `{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"${version}"},"spec":${nested}}}\n`;
    };
    const scene = play([
      {
        chunks: [...first.chunks, deep("8"), deep("9"), frame("MODIFIED", anObject("b", "10"))],
        end: "hang",
      },
    ]);
    await scene.system.settle();
    expect(scene.events.slice(2)).toEqual(["deleted a@8", "updated b@10"]);
    expect(scene.counts).toEqual(["quarantined a"]);
  });

  test("[runtime/RT-05] forgets what it left out when it is deleted, or not there after a relist", async () => {
    const deep = (type: string, name: string): string => {
      const nested = '{"a":'.repeat(2_000) + "1" + "}".repeat(2_000);
      return `{"type":"${type}","object":{"metadata":{"name":"${name}","namespace":"n","resourceVersion":"8"},"spec":${nested}}}\n`;
    };
    const gone = new ApiError("watch: 410", { class: "gone", status: 410, mayHaveActed: false });
    const scene = play([
      { chunks: [...first.chunks, deep("ADDED", "c"), deep("ADDED", "d"), deep("DELETED", "c")], end: gone },
      { chunks: [frame("ADDED", anObject("a", "5")), bookmark("9", "end")] },
    ]);
    await scene.system.settle();
    expect(scene.informer.quarantined.map(({ metadata: { name } }) => name)).toEqual(["d"]);
    await scene.system.advance(2_000);
    expect(scene.informer.quarantined).toEqual([]);
  });

  test.each([
    {
      name: "by initial events",
      listed: [],
      second: { chunks: [frame("ADDED", anObject("a", "2")), bookmark("4", "end")] },
    },
    { name: "page by page", listed: [anObject("a", "2")], second: { refuse: invalid } },
  ])(
    "takes a list $name that is older than what it saw: a backup was restored",
    async ({ listed, second }) => {
      const gone = new ApiError("watch: 410", { class: "gone", status: 410, mayHaveActed: false });
      const later = [frame("MODIFIED", anObject("a", "12"))];
      const scene = play([{ chunks: [...first.chunks, ...later], end: gone }, second], listed);
      await scene.system.settle();
      expect(scene.events.slice(2)).toEqual(["updated a@12"]);
      await scene.system.advance(10_000);
      expect(scene.informer.store.list().map(({ metadata }) => metadata.resourceVersion)).toEqual(["2"]);
      expect(scene.events).toContain("deleted b@3");
    },
  );

  test("[faults/9] a quiet stream that brought the first events is taken for dead after the next bookmark is due, and within 90 s", async () => {
    const scene = play([first]);
    await scene.system.settle();
    await scene.system.advance(80_000);
    expect(scene.counts).toEqual([]);
    await scene.system.advance(10_000);
    expect(scene.counts).toEqual(["idle"]);
  });

  test("[subscription-injection/AC-G10] a watch that is silent for five minutes is opened again each time, and counted", async () => {
    const scene = play([first, first, first, first]);
    await scene.system.settle();
    await scene.system.advance(300_000);
    expect(scene.counts).toEqual(["idle", "idle", "idle"]);
    expect(scene.informer.state).toBe("watching");
  });

  test("requests pages when a busy server ignores the request for initial events", async () => {
    const busy = {
      chunks: [frame("ADDED", anObject("a", "5")), bookmark("6"), frame("ADDED", anObject("b", "7"))],
    };
    const scene = play([busy, { chunks: [] }], [anObject("a", "5"), anObject("b", "7")]);
    await scene.system.settle();
    expect(scene.counts).toEqual(["watchListRefused"]);
    expect([scene.source.lists, scene.informer.state, scene.informer.store.size]).toEqual([1, "watching", 2]);
  });

  test("a watch that is given back is no trouble to anybody", async () => {
    const scene = play([first]);
    await scene.system.settle();
    await scene.informer.stop();
    expect(scene.states).toEqual(["listing", "watching", "stopped"]);
    expect({ troubles: scene.troubles, counts: scene.counts }).toEqual({ troubles: [], counts: [] });
  });

  test("requests the whole list immediately when pages expire before the last is read", async () => {
    const scene = play([{ refuse: invalid }, { chunks: [] }], [anObject("a", "5")]);
    scene.source.expirePages();
    await scene.system.advance(5_000);
    expect(scene.source.wholes).toEqual([false, true]);
    expect(scene.informer.store.isSynced).toBe(true);
  });

  test("ends immediately when it is stopped, whatever it is doing", async () => {
    for (const stream of [first, { refuse: broken }, { chunks: [] }]) {
      const scene = play([stream]);
      await scene.system.settle();
      await scene.informer.stop();
      expect(scene.states.at(-1)).toBe("stopped");
      expect(scene.system.pendingTimers).toBe(0);
    }
  });
});

/** One object, then a bookmark a minute, thirty times; then it ends. */
async function* bookmarksOnly(system: VirtualSystem, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from(frame("ADDED", anObject("a", "5")) + bookmark("100", "end"));
  for (let minute = 1; minute <= 30; minute += 1) {
    await system.sleep(60_000, signal);
    yield Buffer.from(bookmark(String(100 + minute)));
  }
  await system.sleep(30_000, signal);
}

describe("[runtime/RT-03] a stream cut at every byte", () => {
  test("leads to the same store", async () => {
    const history = [
      frame("ADDED", anObject("ä", "5")),
      frame("ADDED", anObject("b", "3")),
      bookmark("7", "end"),
      frame("MODIFIED", anObject("ä", "8")),
      frame("DELETED", anObject("b", "9")),
      frame("ADDED", anObject("€", "10")),
      bookmark("11"),
      frame("MODIFIED", anObject("€", "12")),
    ];
    const bytes = Buffer.from(history.join(""));
    const restFrom = (version: string | undefined): string => {
      if (version === undefined) return history.join("");
      const at = history.findIndex(
        (text) => Number(versionIn(text)) > Number(version) && Number(versionIn(text)) > 7,
      );
      return at === -1 ? "" : history.slice(at).join("");
    };
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const system = new VirtualSystem();
      let opened = 0;
      const informer = new Informer({
        target: { kind: configMaps },
        view: {},
        system,
        freeze: false,
        observer: {},
        source: {
          open: async ({ resourceVersion, signal }) => {
            opened += 1;
            const isFirst = opened === 1;
            const chunks = isFirst ? [bytes.subarray(0, cut)] : [Buffer.from(restFrom(resourceVersion))];
            const source = new ScriptedSource([{ chunks, end: isFirst ? broken : "hang" }]);
            return await source.open({ resourceVersion, signal, timeoutSeconds: 300 });
          },
          list: () => {
            throw new Error("no list is needed");
          },
        },
      });
      informer.start();
      await system.advance(2_000);
      const found = informer.store
        .list()
        .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
      expect(found.toSorted(), `cut at ${cut}`).toEqual(["ä@8", "€@12"].toSorted());
      await informer.stop();
    }
  });
});

function versionIn(text: string): string {
  return /"resourceVersion":"(?<version>\d+)"/.exec(text)?.groups?.["version"] ?? "0";
}
