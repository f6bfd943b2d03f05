import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { installPlan } from "@quartermaster/api";
import { aSecret } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { planIdLabel } from "../../src/ownership/owner-labels.ts";
import { secrets } from "../support/kinds.ts";
import { configMap, inline } from "../support/manifests.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What is in use after garbage was taken away. */
function heapBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A Secret of 1 MB, another client's own. */
async function createLarge(
  { client, namespace }: Workbench,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const data = { blob: Buffer.alloc(1_000_000, name).toString("base64") };
  await client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels },
    data,
  });
}

describe("bulk that others make", () => {
  // 60 for 50,000: kept whole, the 45 with our label alone would be 60 MB of text.
  test("[security/81] large Secrets of others leave the heap as it is, with our label as without", async () => {
    await using bench = await setUpWorkbench();
    const ours = inline(aSecret({ name: "ours", values: { a: "b" } }));
    await bench.create(bench.plan("p", [{ name: "s", resources: [ours] }]));
    await bench.installed("p");
    const before = heapBytes();
    for (let at = 0; at < 15; at += 1) await createLarge(bench, `plain-${at}`, {});
    for (let at = 0; at < 45; at += 1) await createLarge(bench, `labeled-${at}`, { [planIdLabel]: "x" });
    await bench.create(bench.plan("later", [{ name: "s", resources: [configMap("c")] }]));
    await bench.installed("later");
    expect(heapBytes() - before).toBeLessThan(50e6);
  });

  test("[security/82] a status of 1.4 MB that another client writes into a plan is refused, or ignored and put right", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace } = bench;
    await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("c")] }]));
    const { status: honest } = await bench.installed("p");
    const bulk = "x".repeat(1_400_000);
    const condition = {
      type: "Bulk",
      status: "True",
      reason: "Bulk",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const write = async (status: object): Promise<unknown> =>
      await client.patch(
        installPlan.kind,
        { namespace, name: "p" },
        { patch: { kind: "merge", body: { status } }, subresource: "status" },
      );
    for (const status of [
      { bulk },
      { message: bulk },
      { details: [{ message: bulk }] },
      { conditions: [{ ...condition, message: bulk }] },
    ])
      await expect(write(status)).rejects.toThrow(/invalid/);
    await write({ states: [bulk] });
    await bench.create(bench.plan("later", [{ name: "s", resources: [configMap("d")] }]));
    await bench.installed("later");
    // No one reacts to a status; the next reconcile over the plan puts it right.
    await bench.patchPlan("p", { metadata: { annotations: { observation: "again" } } });
    const { status } = await bench.until("p", ({ states }) => states?.[0] === honest?.states?.[0]);
    expect(status?.phase).toBe(honest?.phase);
  });
});
