import { realSystem } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { Batch } from "../../src/files/batch.ts";

const nextTurn = async (): Promise<void> => {
  await realSystem().yieldToOthers();
};

test("what comes during a run is done together by the next one", async () => {
  const runs: (readonly number[])[] = [];
  const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const batch = new Batch(async (items: readonly number[]) => {
    const run = runs.push([...items]);
    await gates[run - 1]?.promise;
    return run;
  }, nextTurn);
  const first = batch.add(1);
  await expect.poll(() => runs.length).toBe(1);
  const others = [2, 3, 4].map(async (item) => await batch.add(item));
  gates[0]?.resolve(undefined);
  expect(await first).toBe(1);
  gates[1]?.resolve(undefined);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  expect(runs).toEqual([[1], [2, 3, 4]]);
});

test("what comes in one turn of the event loop is done together by the first run", async () => {
  const batch = new Batch(async (items: readonly number[]) => await Promise.resolve([...items]), nextTurn);
  const found = await Promise.all(
    [1, 2, 3].map(async (item) => {
      for (let wait = 0; wait < 5 * item; wait += 1) await Promise.resolve();
      return await batch.add(item);
    }),
  );
  expect(found).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ]);
});

test("a run that fails, fails for its own items only", async () => {
  const batch = new Batch(async (items: readonly string[]) => {
    await Promise.resolve();
    if (items.includes("bad")) throw new Error("no");
    return items.length;
  }, nextTurn);
  await expect(batch.add("bad")).rejects.toThrow("no");
  expect(await batch.add("good")).toBe(1);
});
