import { describe, expect, test } from "vitest";

import { installPlan, kinds, resourceManifest } from "../../src/index.ts";

describe.each(kinds.map((resource) => ({ name: resource.kind.kind, resource })))("$name", ({ resource }) => {
  test("has an example that its own check finds no fault with", () => {
    expect(resource.check(resource.example)).toEqual([]);
  });

  test("gives a definition far below the size that etcd and kubectl take", () => {
    expect(JSON.stringify(resource.definition()).length).toBeLessThan(256 * 1024);
  });
});

test("lists every fault of a manifest at once, each with its path", () => {
  const faulty = {
    apiVersion: "install.quartermaster.dev/v1alpha1",
    kind: "InstallPlan",
    metadata: { name: "x" },
    spec: {
      serviceAccountName: "Not A Label",
      stages: [{ name: "one", wait: "Forever", jbos: [] }],
      historyLimit: -1,
    },
  };
  const paths = installPlan.check(faulty).map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      "spec.serviceAccountName",
      "spec.stages.0.wait",
      "spec.stages.0",
      "spec.historyLimit",
    ]),
  );
});

test("refuses a manifest of another kind by its path", () => {
  expect(resourceManifest.check(installPlan.example).map(({ path }) => path)).toContain("kind");
});
