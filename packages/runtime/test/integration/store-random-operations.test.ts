import { eventually } from "@quartermaster/testkit";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { byLabel } from "../../src/store/index-set.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { configMaps } from "../support/kinds.ts";
import { picture } from "../support/noted-events.ts";
import { setUpWorkbench } from "../support/workbench.ts";

/** 8 s in every run, because it takes all the CPU time there is; the full 60 s in `make campaign`. */
const durationMs = process.env["QM_CAMPAIGN"] === "1" ? 60_000 : 8_000;

const objects = 5_000;

interface Operation {
  readonly do: "write" | "delete";
  readonly at: number;
  readonly colour: string;
}

const operations: fc.Arbitrary<Operation> = fc.record({
  do: fc.constantFrom("write", "write", "write", "delete"),
  at: fc.nat({ max: objects - 1 }),
  colour: fc.constantFrom("red", "green", "blue"),
});

async function perform(
  client: Client,
  namespace: string,
  { do: what, at, colour }: Operation,
): Promise<void> {
  const ref = { name: `o-${at}`, namespace };
  if (what === "delete") {
    if ((await client.find(configMaps, ref)) !== undefined) await client.delete(configMaps, ref);
    return;
  }
  const metadata = { ...ref, labels: { colour } };
  const options = { fieldManager: "test", force: true };
  await client.apply(
    configMaps,
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { colour } },
    options,
  );
}

test("[runtime/RT-32] after random operations with watches cut every second the store equals the server's list", async () => {
  await using bench = await setUpWorkbench({ isServed: false });
  const { client, namespace } = bench;
  await using proxy = await startCuttingProxy(bench.admin.server);
  await using watching = connect({ ...bench.admin, server: proxy.url });
  const backwards: string[] = [];
  await using pool = new InformerPool({ transport: watching.transport, system: realSystem(), freeze: true });
  const handle = pool.acquire({ kind: configMaps, namespace });
  handle.addHandler((event) => {
    if (event.type !== "updated") return;
    const { resourceVersion: after } = event.new.metadata;
    const { resourceVersion: before } = event.old.metadata;
    if (BigInt(after) <= BigInt(before)) backwards.push(event.new.metadata.name);
  });
  const endMs = performance.now() + durationMs;
  const cutting = setInterval(() => {
    proxy.cut();
  }, 1_000);
  const script = fc.sample(operations, { numRuns: 100_000, seed: 32 });
  let next = 0;
  // One lane per residue: operations on one object do not overtake each other.
  const lane = async (): Promise<void> => {
    while (performance.now() < endMs || next <= 1_000) {
      const operation = script[next++ % script.length];
      if (operation !== undefined) await perform(client, namespace, operation).catch(ignoreRaces);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  clearInterval(cutting);
  const items = await Array.fromAsync(client.list(configMaps, { namespace }));
  await eventually((see) => {
    see({ held: handle.store.size, want: items.length, operations: next });
    return picture(handle.store.list()).join() === picture(items).join();
  });
  expect(backwards).toEqual([]);
  expect(next).toBeGreaterThan(1_000);
  const red = items.filter(({ metadata }) => metadata.labels?.["colour"] === "red");
  expect(picture(handle.store.listBy(byLabel("colour"), "red"))).toEqual(picture(red));
});

/** Two lanes may delete the same object; that is part of the game. */
function ignoreRaces(error: unknown): void {
  if (!(error instanceof Error) || !/40[49]/.test(error.message)) throw error;
}
