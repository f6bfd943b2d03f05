import { describe, expect, test } from "vitest";

import type { CallOptions, Client } from "../../src/client/client.ts";
import { guardWrites } from "../../src/leader/guard-writes.ts";
import { fenceClient, withDeadline } from "../../src/reconcile/with-deadline.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";

const object: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };

/** A server that notes with which options it is called. */
function notingServer(): { readonly client: Client; readonly calls: CallOptions[] } {
  const calls: CallOptions[] = [];
  const noted = async (_kind: unknown, _object: unknown, options: CallOptions): Promise<ConfigMap> => {
    calls.push(options);
    return await Promise.resolve(object);
  };
  return { client: { create: noted, get: noted } as unknown as Client, calls };
}

describe("a client that ends with its reconcile", () => {
  test("sends nothing afterwards, even for code that ignores its signal", async () => {
    const { client, calls } = notingServer();
    const outer = new AbortController().signal;
    const kept = await withDeadline(
      async (scope) => {
        const fenced = fenceClient(client, { scope });
        await fenced.create(configMaps, object);
        return fenced;
      },
      { system: new VirtualSystem(), limitMs: 1_000, outer },
    );
    await expect(kept.create(configMaps, object)).rejects.toThrow("the reconcile is over");
    await expect(kept.get(configMaps, object.metadata)).rejects.toThrow("the reconcile is over");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.signal?.aborted).toBe(true);
  });
});

describe("a client whose writes need the lease", () => {
  test.each([
    { name: "sends within the time that is left", budgetMs: 500, timeoutMs: undefined, want: 500 },
    { name: "keeps a shorter limit of the caller", budgetMs: 500, timeoutMs: 100, want: 100 },
    { name: "shortens a longer limit of the caller", budgetMs: 500, timeoutMs: 9_000, want: 500 },
    { name: "has a limit of its own", budgetMs: 99_000, timeoutMs: undefined, want: 30_000 },
  ])("$name", async ({ budgetMs, timeoutMs, want }) => {
    const { client, calls } = notingServer();
    const guarded = guardWrites(client, { writeBudgetMs: () => budgetMs });
    await guarded.create(configMaps, object, timeoutMs === undefined ? {} : { timeoutMs });
    expect(calls.map((options) => options.timeoutMs)).toEqual([want]);
  });

  test.each([0, -1])("sends nothing when %i ms are left, and reads on", async (budgetMs) => {
    const { client, calls } = notingServer();
    const guarded = guardWrites(client, { writeBudgetMs: () => budgetMs });
    await expect(guarded.create(configMaps, object)).rejects.toMatchObject({ mayHaveActed: false });
    expect(calls).toEqual([]);
    await guarded.get(configMaps, object.metadata);
    expect(calls).toHaveLength(1);
  });
});
