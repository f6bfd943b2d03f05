import type { Transport } from "@quartermaster/runtime";
import { aConfigMap, connect } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { configMaps } from "../support/kinds.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const toNew = { resources: [{ stage: "s", kind: "ConfigMap", name: "new" }] };
const from = { apiVersion: "v1", kind: "ConfigMap", allowUnowned: true };

async function make(bench: Workbench, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await bench.client.create(configMaps, aConfigMap({ name, namespace: bench.namespace, labels }));
}

async function names(bench: Workbench): Promise<readonly string[]> {
  const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace, pageSize: 1000 });
  return items.map(({ metadata }) => metadata.name);
}

describe("what transformations select", () => {
  test("[security/93] is read as metadata only, and is at most 500 objects in one plan", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const { transport } = bench.use(connect(bench.operatorAccess));
    const reads: Parameters<Transport["send"]>[0][] = [];
    await bench.operate({
      transport: {
        send: async (request) => {
          if (request.method === "GET" && /\/configmaps(?:\?|\/old)/.test(request.path)) reads.push(request);
          return await transport.send(request);
        },
        openStream: async (path, options) => await transport.openStream(path, options),
        [Symbol.asyncDispose]: async () => await Promise.resolve(),
      },
    });
    const mallory = await letMalloryIn(bench, { accountRules: [allPermissions] });
    const count = 510;
    for (let start = 0; start < count; start += 30)
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          await make(bench, `old-${start + index}`, { half: (start + index) % 2 === 0 ? "one" : "two" });
        }),
      );
    const transformations = ["one", "two"].map((half) => ({
      name: half,
      from: { ...from, labelSelector: `half=${half}`, maxMatches: 500 },
      to: toNew,
    }));
    const byName = { name: "named", from: { ...from, names: ["old-0"] }, to: toNew };
    await mallory.create(
      mallory.plan("p", [{ name: "s", resources: [configMap("new")] }], {
        transformations: [byName, ...transformations],
      }),
    );
    const plan = await bench.until("p", ({ phase }) => phase === "Invalid");
    expect(plan.status?.message).toContain("500 objects");
    const watched = (path: string): boolean => path.includes("plan-id");
    const own = reads.filter(({ path }) => !watched(path));
    expect(own.length).toBeGreaterThan(2);
    expect(own.filter(({ accept = "" }) => !accept.includes("PartialObjectMetadata"))).toEqual([]);
    await bystanderInstalls(bench);
    expect((await names(bench)).filter((name) => name.startsWith("old-"))).toHaveLength(count);
  });
});
