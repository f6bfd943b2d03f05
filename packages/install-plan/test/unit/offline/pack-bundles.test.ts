import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { resolveManifest } from "../../../src/manifest/resolve-manifest.ts";
import { pack, type Packed, readYaml } from "../../../src/offline/index.ts";

const repository = join(import.meta.dirname, "../../../../..");
const bundles = join(realSystem().env["QM_FIXTURES"] ?? join(repository, "../shared/fixtures"), "bundles");

function packBundle(file: string): Packed {
  const { documents, issues } = readYaml(readFileSync(join(bundles, file), "utf8"), { file });
  expect(issues).toEqual([]);
  const named = documents.map(({ value, index }) => ({ value, source: `${file}, document ${index + 1}` }));
  return pack(named, { name: "bundle", namespace: "monitoring", serviceAccountName: "installer" });
}

describe.skipIf(!existsSync(bundles))("bundles of others (fixtures not present: skipped)", () => {
  test.each([
    { file: "kube-prometheus.yaml", count: 131, manifests: 118, first: "namespaces", last: "custom" },
    { file: "argo-cd.yaml", count: 59, manifests: 8, first: "definitions", last: "workloads" },
    { file: "metallb-native.yaml", count: 26, manifests: 0, first: "namespaces", last: "registrations" },
  ])("$file is packed whole", ({ file, count, manifests, first, last }) => {
    const packed = packBundle(file);
    const stages = packed.plan.spec.stages;
    expect(packed.issues).toEqual([]);
    expect(stages.flatMap(({ resources }) => resources)).toHaveLength(count);
    expect(packed.manifests).toHaveLength(manifests);
    expect([stages[0]?.name, stages.at(-1)?.name]).toEqual([first, last]);
    expect(packed.plan.spec.scope).toBe("Cluster");
    const resolved = packed.manifests.map((manifest) => resolveManifest(manifest as never, () => undefined));
    expect(resolved.every(({ kind }) => kind === "ok")).toBe(true);
  });

  test("the plan of 131 manifests is small", () => {
    expect(JSON.stringify(packBundle("kube-prometheus.yaml").plan).length).toBeLessThan(64 * 1_024);
  });
});
