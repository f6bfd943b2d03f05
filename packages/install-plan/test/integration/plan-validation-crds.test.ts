import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { isServed } from "../../src/crds/established-kinds.ts";
import { conditionOf } from "../support/conditions.ts";
import { type DefinedVersion, widget, widgets } from "../support/definitions.ts";
import { crds } from "../support/kinds.ts";
import { bystanderInstalls } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { removing } from "../support/removing.ts";
import { allPermissions, setUpWorkbench, type Workbench } from "../support/workbench.ts";

const adoptingClusterWide = { scope: "Cluster", lifecycle: { adoption: "IfUnowned" } } as const;

/** A definition that is there and served. */
async function defined(bench: Workbench, versions: readonly DefinedVersion[]) {
  const definition = widgets(`${bench.namespace}.example.com`, versions);
  await bench.client.create(crds, definition.object);
  await eventually(async () => isServed(await bench.client.get(crds, definition), "v1"));
  return definition;
}

describe("changes of definitions that would lose or break objects", () => {
  test("[install-plan/35] a stored version cannot go", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const before = await defined(bench, [{ name: "v1" }]);
    bench.use(removing(bench.client, crds, before));
    const after = widgets(before.group, [{ name: "v2" }]);
    const position = await bench.audit.position();
    const resources = [configMap("a"), { manifest: after.object }];
    await bench.create(bench.plan("p", [{ name: "s", resources }], adoptingClusterWide));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("UnsafeCRD");
    expect(status?.message).toContain("version v1 cannot be removed");
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/36] a schema that an object would no longer fit names the object", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const before = await defined(bench, [{ name: "v1", fields: { size: { type: "integer" } } }]);
    bench.use(removing(bench.client, crds, before));
    await eventually(
      async () =>
        await bench.client.create(before.kind, {
          ...widget(before, "large", { spec: { size: 9 } }),
          metadata: { name: "large", namespace: bench.namespace },
        }),
    );
    const after = widgets(before.group, [{ name: "v1", fields: { size: { type: "integer", maximum: 5 } } }]);
    const position = await bench.audit.position();
    const resources = [configMap("a"), { manifest: after.object }];
    await bench.create(bench.plan("p", [{ name: "s", resources }], adoptingClusterWide));
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("UnsafeCRD");
    expect(status?.message).toContain(`Widget ${bench.namespace}/large would no longer be valid`);
    expect(await bench.writes(position)).toEqual([]);
  });

  test("[install-plan/36] nor may an old version become stricter beside a new one that is stored", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const before = await defined(bench, [{ name: "v1", fields: { size: { type: "integer" } } }]);
    bench.use(removing(bench.client, crds, before));
    await eventually(
      async () =>
        await bench.client.create(before.kind, {
          ...widget(before, "large", { spec: { size: 9 } }),
          metadata: { name: "large", namespace: bench.namespace },
        }),
    );
    const after = widgets(before.group, [
      { name: "v1", fields: { size: { type: "integer", maximum: 5 } } },
      { name: "v2", isStored: true, fields: { size: { type: "integer" } } },
    ]);
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [{ manifest: after.object }] }], adoptingClusterWide),
    );
    const { status } = await bench.inPhase("p", "Invalid");
    expect(conditionOf(status, "Validated")?.reason).toBe("UnsafeCRD");
    expect(status?.message).toContain(`Widget ${bench.namespace}/large would no longer be valid`);
  });

  test("[security/99] a pattern that backtracks elsewhere holds nothing up", async () => {
    await using bench = await setUpWorkbench({ clusterRules: [allPermissions] });
    const before = await defined(bench, [{ name: "v1", fields: { text: { type: "string" } } }]);
    bench.use(removing(bench.client, crds, before));
    for (const name of ["a", "b", "c", "d"])
      await eventually(
        async () =>
          await bench.client.create(before.kind, {
            ...widget(before, name, { spec: { text: "x".repeat(2_000) } }),
            metadata: { name, namespace: bench.namespace },
          }),
      );
    const startedAt = process.threadCpuUsage();
    const after = widgets(before.group, [
      { name: "v1", fields: { text: { type: "string", pattern: "^x*x*x*y$" } } },
    ]);
    await bench.create(
      bench.plan("p", [{ name: "s", resources: [{ manifest: after.object }] }], adoptingClusterWide),
    );
    const { status } = await bench.inPhase("p", "Invalid");
    await bystanderInstalls(bench);
    expect(status?.message).toContain("does not match the pattern");
    const { user, system } = process.threadCpuUsage(startedAt);
    // Backtracking takes more than a second for each of the four.
    expect((user + system) / 1e6).toBeLessThan(3);
  });
});
