import { expect, test } from "vitest";

import { bundleControllers } from "../../src/index.ts";

test.each([
  {
    name: "the whole cluster",
    options: {},
    want: ["bundles", "clusterbundles", "consolesamples"],
  },
  { name: "one namespace: no ClusterBundles", options: { namespace: "a" }, want: ["bundles"] },
  {
    name: "one namespace and selected ClusterBundles",
    options: { namespace: "a", clusterBundleSelector: "shard=1" },
    want: ["bundles", "clusterbundles", "consolesamples"],
  },
])("controllers for $name", ({ options, want }) => {
  expect(bundleControllers(options).map((controller) => controller.name)).toEqual(want);
});
