import { describe, expect, test } from "vitest";

import { configMaps, setUpWorkbench } from "../support/workbench.ts";

function configMap(
  name: string,
  data: Readonly<Record<string, string>> = { a: "1" },
): { readonly manifest: object } {
  return { manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data } };
}

describe("a plan that can be carried out", () => {
  test("[install-plan/1] one ConfigMap is created once and the plan says so", async () => {
    await using bench = await setUpWorkbench();
    const mark = await bench.audit.mark();
    await bench.create(bench.plan("one", [{ name: "only", resources: [configMap("settings")] }]));
    const { status } = await bench.installed("one");
    expect(status).toMatchObject({ phase: "Installed", states: ["R"], counts: { total: 1, ready: 1 } });
    const made = await bench.client.get(configMaps, { namespace: bench.namespace, name: "settings" });
    expect(made.data).toEqual({ a: "1" });
    const writes = await bench.writes(mark);
    expect(writes.map(({ verb, name }) => [verb, name])).toEqual([["patch", "settings"]]);
  });
});
