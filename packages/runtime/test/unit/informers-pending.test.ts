import { describe, expect, onTestFinished, test } from "vitest";

import { ApiError } from "../../src/errors.ts";
import { type InformerHandle, InformerPool } from "../../src/informers/informer-pool.ts";
import { defineKind, type Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { kindNotServed } from "../../src/transport/response-error.ts";
import type { Transport } from "../../src/transport/transport.ts";
import type { StreamQuery, WatchSource } from "../../src/watch/watch-source.ts";
import { bookmark, frame, ScriptedSource, type ScriptedStream } from "../support/scripted-source.ts";

const widgets: Kind = defineKind({
  group: "example.org",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});

const notServed = refusalOf(404, "notFound", kindNotServed);
const forbidden = refusalOf(403, "forbidden", "Forbidden");
const minuteMs = 60_000;

function refusalOf(status: number, refused: ApiError["class"], reason: string): ApiError {
  return new ApiError(String(status), { class: refused, status, reason, mayHaveActed: false });
}

/** Definitions whose stream is empty until `tell` is called. */
class Definitions implements WatchSource {
  readonly #reported = Promise.withResolvers<string>();

  tell(definition: KubeObject): void {
    this.#reported.resolve(frame("ADDED", definition));
  }

  async open({ signal }: StreamQuery): Promise<AsyncIterable<Uint8Array>> {
    return await Promise.resolve(this.#events(signal));
  }

  list(): never {
    throw new Error("no list is needed");
  }

  async *#events(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield Buffer.from(bookmark("10", "end"));
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    signal.addEventListener("abort", () => {
      resolve(undefined);
    });
    const text = await Promise.race([this.#reported.promise, over]);
    if (text !== undefined) yield Buffer.from(text);
    await over;
  }
}

interface Scene {
  readonly system: VirtualSystem;
  readonly handle: InformerHandle;
  readonly source: ScriptedSource;
}

function waitForWidgets(
  definitions: WatchSource,
  streams: readonly ScriptedStream[],
  isDefined = false,
): Scene {
  const system = new VirtualSystem();
  const source = new ScriptedSource(streams);
  const pool = new InformerPool({
    transport: {} as Transport,
    system,
    idleMs: 10 * 60 * minuteMs,
    sourceOf: ({ kind }) => (kind.plural === widgets.plural ? source : definitions),
  });
  const handle = pool.acquire({ kind: widgets, isDefined });
  onTestFinished(async () => {
    await pool[Symbol.asyncDispose]();
  });
  return { system, source, handle };
}

const cases = [
  { name: "every few minutes while definitions are watched", given: new Definitions(), want: [20, 30] },
  {
    name: "every half minute where definitions may not be watched",
    given: new ScriptedSource([{ refuse: forbidden }]),
    want: [115, 130],
  },
] as const;

describe("a kind that is not served", () => {
  test.each(cases)("is looked for $name", async ({ given, want: [least, most] }) => {
    const { system, source } = waitForWidgets(given, [{ refuse: notServed }]);
    await system.advance(60 * minuteMs);
    const before = source.queries.length;
    await system.advance(60 * minuteMs);
    expect(source.queries.length - before).toBeGreaterThanOrEqual(least);
    expect(source.queries.length - before).toBeLessThanOrEqual(most);
  });

  test("[first-use/20] is not requested at all while only a definition could bring it and there is none", async () => {
    const { system, source } = waitForWidgets(new Definitions(), [{ refuse: notServed }], true);
    await system.advance(5_000);
    const before = source.queries.length;
    expect(before).toBeLessThanOrEqual(3);
    await system.advance(7 * 24 * 60 * minuteMs);
    expect(source.queries.length - before).toBe(0);
  });

  test.each([false, true])("is requested immediately when its definition comes", async (isDefined) => {
    const definitions = new Definitions();
    const { system, source } = waitForWidgets(definitions, [{ refuse: notServed }], isDefined);
    await system.advance(60 * minuteMs);
    const before = source.queries.length;
    const spec = { group: widgets.group, names: { plural: widgets.plural } };
    const metadata = { name: "widgets.example.org", resourceVersion: "11" };
    const definition = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata };
    definitions.tell(Object.freeze({ ...definition, spec }));
    await system.advance(0);
    expect(source.queries.length - before).toBe(1);
    // It may take the server a moment more: the next looks come soon again.
    await system.advance(10_000);
    expect(source.queries.length - before).toBeGreaterThan(2);
  });
});

describe("a kind that may not be watched", () => {
  test("is known as such, does not count as synced, and is tried immediately when another client has reason to", async () => {
    const unavailable = refusalOf(503, "transient", "ServiceUnavailable");
    const refusals = Array.from({ length: 20 }, () => ({ refuse: forbidden }));
    const response = { chunks: [bookmark("10", "end")] };
    const { system, source, handle } = waitForWidgets(new Definitions(), [
      ...refusals,
      { refuse: unavailable },
      response,
    ]);
    const isSettled = isDone(handle.synced);
    await system.advance(0);
    await handle.firstResponse;
    expect(handle.isForbidden).toBe(true);
    await system.advance(5 * minuteMs);
    expect(source.queries.length).toBeLessThan(20);
    while (source.queries.length < 21) {
      handle.retryNow();
      const isDecided = isDone(handle.firstResponse);
      // Another client asks before the response is there: the client that waits already must not be forgotten.
      handle.retryNow();
      await system.advance(0);
      // Trouble of another sort is no response.
      expect(isDecided()).toBe(source.queries.length < 21);
      expect([handle.isForbidden, isSettled()]).toEqual([true, false]);
    }
    handle.retryNow();
    await system.advance(0);
    expect([handle.isForbidden, isSettled(), handle.store.isSynced]).toEqual([false, true, true]);
  });
});

function isDone(promise: Promise<void>): () => boolean {
  let done = false;
  const wait = async (): Promise<void> => {
    await promise;
    done = true;
  };
  void wait();
  return () => done;
}
