import type { Live } from "@quartermaster/runtime";
import type { ClusterObject } from "@quartermaster/search/offline";
import { expect, test } from "vitest";

import { plain } from "../../src/render/paint.ts";
import { searchStatusText } from "../../src/render/search-status.ts";

function textOf(monitoring: object | undefined): string {
  const status = { clusterUuid: "u", ...(monitoring === undefined ? {} : { monitoring }) };
  const metadata = { name: "logs", namespace: "team", uid: "1", resourceVersion: "1" };
  return searchStatusText({ kind: "OpenSearchCluster", metadata, status } as Live<ClusterObject>, plain);
}

test.each<[string, object, string]>([
  [
    "all there",
    {
      exporter: "Ready",
      stack: "Standalone",
      objects: ["Deployment logs-exporter", "Deployment logs-grafana"],
    },
    "  monitored: exporter ready, stack Standalone, 2 objects",
  ],
  [
    "an API is absent",
    {
      exporter: "Pending",
      stack: "None",
      objects: [],
      absentApis: ["monitoring.coreos.com/v1 ServiceMonitor"],
    },
    "  monitored: exporter pending, stack None, 0 objects, not served: monitoring.coreos.com/v1 ServiceMonitor",
  ],
])("the status has a line about monitoring: %s", (_name, monitoring, line) => {
  expect(textOf(monitoring).split("\n")).toContain(line);
});

test("a cluster that is not monitored has none", () => {
  expect(textOf(undefined)).not.toContain("monitored");
});
