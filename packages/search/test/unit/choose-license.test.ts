import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { Live } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { chooseLicense, type LicenseOffer } from "../../src/license/wanted-license.ts";
import { clusterReport } from "../../src/report/cluster-report.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aSeen, engineFacts, known } from "../support/a-seen.ts";

const day = 86_400_000;
const nowMs = Date.UTC(2025, 5, 1);

function current(name: string, type: string, daysLeft = 300): Live<ClusterLicense> {
  return {
    metadata: { name, namespace: "team" },
    spec: { uid: `${name}-uid`, type, issueDate: nowMs - 100 * day, expiryDate: nowMs + daysLeft * day },
  } as unknown as Live<ClusterLicense>;
}

function cluster(license: object = {}): ElasticsearchCluster {
  return {
    metadata: { name: "logs", namespace: "team" },
    spec: { general: { version: "8.19.0" } },
    status: { engine: { transportTls: true }, license },
  } as unknown as ElasticsearchCluster;
}

const gold = current("logs", "gold");
const platinum = current("logs-pool", "platinum");

test.for<[string, LicenseOffer, ElasticsearchCluster, string | undefined]>([
  ["nothing of nothing", { direct: undefined, associated: undefined }, cluster(), undefined],
  ["[licensing/A9] the direct one alone", { direct: gold, associated: undefined }, cluster(), "logs"],
  ["the controller's alone", { direct: undefined, associated: platinum }, cluster(), "logs-pool"],
  [
    "[licensing/A10] the controller's platinum before a direct gold",
    { direct: gold, associated: platinum },
    cluster(),
    "logs-pool",
  ],
  [
    "a direct platinum before the controller's gold",
    { direct: current("logs", "platinum"), associated: current("logs-pool", "gold") },
    cluster(),
    "logs",
  ],
  [
    "a direct gold once the controller's platinum has ended",
    { direct: gold, associated: current("logs-pool", "platinum", -1) },
    cluster({ uid: "logs-pool-uid", type: "platinum", state: "Expired" }),
    "logs",
  ],
  [
    "the one that runs before an equal one",
    { direct: current("logs", "platinum"), associated: platinum },
    cluster({ uid: "logs-pool-uid", type: "platinum", state: "Applied" }),
    "logs-pool",
  ],
  [
    "the direct one while no one knows what runs",
    { direct: gold, associated: platinum },
    cluster({ state: "Unknown" }),
    "logs",
  ],
])("%s", ([, offer, given, want]) => {
  expect(chooseLicense(offer, given, nowMs)?.metadata.name).toBe(want);
});

test.each([
  { name: "one node is still 7.7.1", versions: ["7.17.28", "7.7.1", "7.17.28"], want: "logs-pool" },
  { name: "all nodes are 7.17.28", versions: ["7.17.28", "7.17.28"], want: "logs" },
])("[licensing/S19] enterprise waits until the oldest node takes it: $name", ({ versions, want }) => {
  const nodes = versions.map((version, at) => ({
    id: `n${String(at)}`,
    name: `logs-nodes-${String(at)}`,
    version,
    roles: [],
    isElected: at === 0,
  }));
  const seen = aSeen({ cluster: anElasticsearch("7.17.28"), engine: engineFacts({ nodes: known(nodes) }) });
  const { engine } = clusterReport(seen, [], new Date(nowMs));
  const offer = { direct: current("logs", "enterprise"), associated: platinum };
  expect(chooseLicense(offer, { ...cluster(), status: { engine } }, nowMs)?.metadata.name).toBe(want);
});
