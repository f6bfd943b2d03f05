import { readFile } from "node:fs/promises";

import type { KubeObject } from "@quartermaster/runtime";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { networkPolicy } from "../../../src/supporting-objects/supporting-objects-lane.ts";
import { clusterServices } from "../../../src/workload/cluster-services.ts";
import { dashboardsLabels } from "../../../src/workload/dashboards-names.ts";
import { poolPod } from "../../../src/workload/pool-pod.ts";
import { aPool, aSearchCluster, noSettings } from "../../a-search-cluster.ts";

type Labels = Readonly<Record<string, string>>;

interface Shipped extends KubeObject {
  readonly spec: {
    readonly template?: { readonly metadata: { readonly labels: Labels } };
    readonly selector?: Labels;
    readonly podSelector?: { readonly matchLabels?: Labels };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly { readonly ports?: readonly { readonly port: number }[] }[];
  };
}

async function shipped(file: string): Promise<readonly Shipped[]> {
  const url = new URL(`../../../../../deploy/${file}`, import.meta.url);
  return parseAllDocuments(await readFile(url, "utf8")).map((document) => document.toJS() as Shipped);
}

function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** What a tenant would try: our own names, and our pods' labels. */
const hostile = ["quartermaster-operator", "quartermaster-webhook"].map((name) =>
  aSearchCluster({
    name,
    serviceName: name,
    namespace: "quartermaster",
    pools: [aPool({ name })],
    pod: {
      ...noSettings,
      labels: { "search.quartermaster.dev/manager": "false", [`opensearch.org/${name}`]: name },
    },
  }),
);

describe("[security/75] what a tenant's cluster selects, and who reaches the operator", () => {
  let objects: readonly Shipped[];
  beforeAll(async () => {
    objects = await shipped("install.yaml");
  });

  test("no selector of a cluster finds a pod of the operator, whatever the cluster is called", () => {
    const operatorPods = objects.flatMap(({ spec }) =>
      spec?.template === undefined ? [] : [spec.template.metadata.labels],
    );
    expect(operatorPods.map((labels) => labels["app.kubernetes.io/part-of"])).toEqual([
      "quartermaster",
      "quartermaster",
    ]);
    for (const cluster of hostile) {
      const selectors = [
        ...clusterServices(cluster).map(({ spec }) => spec?.selector ?? {}),
        networkPolicy(cluster).spec?.podSelector?.matchLabels ?? {},
        dashboardsLabels(cluster),
      ];
      expect(selectors.length).toBeGreaterThan(4);
      for (const selector of selectors) {
        expect(Object.keys(selector)).not.toEqual([]);
        for (const labels of operatorPods) expect(selects(selector, labels)).toBe(false);
      }
    }
  });

  test("labels of an author never replace those by which a cluster finds its own pods", () => {
    const [cluster = aSearchCluster()] = hostile;
    const [pool = aPool()] = cluster.pools;
    const taken = {
      "opensearch.org/opensearch-cluster": "other",
      "search.quartermaster.dev/manager": "false",
    };
    const labels = poolPod({ ...cluster, pod: { ...noSettings, labels: taken } }, pool, "hash").metadata
      ?.labels;
    for (const { spec } of clusterServices(cluster))
      expect(selects(spec?.selector ?? {}, labels ?? {})).toBe(true);
  });

  test("every pod of ours is closed but for metrics, probes and the webhook", () => {
    const policies = objects.filter(({ kind }) => kind === "NetworkPolicy");
    const all = policies.filter(
      ({ spec }) => spec.podSelector?.matchLabels?.["app.kubernetes.io/part-of"] === "quartermaster",
    );
    expect(all.map(({ spec }) => spec.policyTypes)).toEqual([["Ingress", "Egress"]]);
    const open = policies.flatMap(({ spec }) =>
      (spec.ingress ?? []).map(({ ports = [] }) => ({
        of: spec.podSelector?.matchLabels?.["app.kubernetes.io/name"] ?? "all",
        ports: ports.map(({ port }) => port),
      })),
    );
    expect(open).toEqual([
      { of: "all", ports: [8080] },
      { of: "quartermaster-webhook", ports: [9443] },
    ]);
  });
});
