import { describe, expect, test } from "vitest";

import { inParallel } from "../../src/system/in-parallel.ts";

/** Work that ends when the test says so. */
function gated(): {
  readonly started: number[];
  readonly work: (item: number) => Promise<string>;
  readonly end: (item: number, error?: Error) => Promise<void>;
} {
  const started: number[] = [];
  const gates = new Map<number, PromiseWithResolvers<string>>();
  return {
    started,
    work: async (item) => {
      started.push(item);
      const gate = Promise.withResolvers<string>();
      gates.set(item, gate);
      return await gate.promise;
    },
    end: async (item, error) => {
      if (error === undefined) gates.get(item)?.resolve(`done ${item}`);
      else gates.get(item)?.reject(error);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

describe("inParallel", () => {
  test("starts the next item when one has ended, and returns the results in the items' order", async () => {
    const { started, work, end } = gated();
    const all = inParallel([1, 2, 3], 2, work);
    expect(started).toEqual([1, 2]);
    await end(2);
    expect(started).toEqual([1, 2, 3]);
    await end(3);
    await end(1);
    expect(await all).toEqual(["done 1", "done 2", "done 3"]);
  });

  test("after a failure starts nothing further, awaits what is in progress, and throws the first failure", async () => {
    const { started, work, end } = gated();
    let thrown: unknown;
    const all = inParallel([1, 2, 3], 2, work).catch((error: unknown) => {
      thrown = error;
    });
    await end(1, new Error("first"));
    expect([started, thrown]).toEqual([[1, 2], undefined]);
    await end(2, new Error("second"));
    await all;
    expect(thrown).toEqual(new Error("first"));
    expect(started).toEqual([1, 2]);
  });

  test("without items there is nothing to do", async () => {
    expect(await inParallel([], 4, async () => await Promise.reject(new Error("never")))).toEqual([]);
  });
});
