import { elasticsearchCluster } from "@quartermaster/api";
import { configMaps, deployments, type Pod, pods, secrets, services } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  anElasticsearch,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const pools = [aPool("nodes", 1)];

function withDashboards(dashboards: object): object {
  return aCluster("logs", { pools, spec: { dashboards } });
}

async function dashboardsPods({ client, namespace }: SearchBench): Promise<readonly Pod[]> {
  const all = await Array.fromAsync(client.list(pods, { namespace }));
  return all.filter(
    ({ metadata }) =>
      metadata.labels?.["search.quartermaster.dev/dashboards"] === "logs" &&
      metadata.deletionTimestamp === undefined,
  );
}

describe("Dashboards", () => {
  test("[search/SC-84] rolls when a label changes; switched off, everything of it is deleted, and nothing else", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const tls = { enable: true, generate: true };
    await bench.apply(withDashboards({ enable: true, tls }));
    await bench.until("logs", isReady);
    const [before] = await dashboardsPods(bench);
    expect(before?.spec.containers[0]?.image).toBe(
      "docker.io/opensearchproject/opensearch-dashboards:2.19.4",
    );
    const record = await client.get(secrets, { namespace, name: "logs-security-applied" });
    expect(Buffer.from(record.data?.["applied"] ?? "", "base64").toString()).toContain(
      "internalusers/quartermaster-dashboards",
    );

    await bench.apply(withDashboards({ enable: true, tls, labels: { team: "blue" } }));
    await bench.until("logs", isReady);
    await eventually(async (see) => {
      const now = see(await dashboardsPods(bench));
      return (
        now.length === 1 &&
        now[0]?.metadata.uid !== before?.metadata.uid &&
        now[0]?.metadata.labels?.["team"] === "blue"
      );
    });

    const ofOthers = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "theirs",
        namespace,
        labels: { "search.quartermaster.dev/cluster": "logs", "search.quartermaster.dev/part": "dashboards" },
      },
    };
    await client.create(configMaps, ofOthers);
    await bench.apply(withDashboards({ enable: false }));
    await bench.until("logs", isReady);
    const gone = [
      await client.find(deployments, { namespace, name: "logs-dashboards" }),
      await client.find(services, { namespace, name: "logs-dashboards" }),
      await client.find(configMaps, { namespace, name: "logs-dashboards-config" }),
      await client.find(secrets, { namespace, name: "logs-dashboards-cert" }),
      await client.find(secrets, { namespace, name: "logs-dashboards-password" }),
    ];
    expect(gone).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(await client.find(configMaps, { namespace, name: "theirs" })).toBeDefined();
    expect(await client.find(secrets, { namespace, name: "logs-admin-password" })).toBeDefined();
    expect(await client.find(services, { namespace, name: "logs" })).toBeDefined();
  });

  test("Kibana logs in with a user of the file realm that is no superuser", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(anElasticsearch("docs", { pools, spec: { kibana: { enable: true } } }));
    await bench.until("docs", isReady, elasticsearchCluster.kind);
    const { data } = await client.get(secrets, { namespace, name: "docs-file-realm" });
    const roles = Buffer.from(data?.["users_roles"] ?? "", "base64").toString();
    expect(roles).toBe("kibana_system:quartermaster-dashboards\nsuperuser:admin,quartermaster-operator\n");
    const config = await client.get(configMaps, { namespace, name: "docs-dashboards-config" });
    expect(Object.keys(config.data ?? {})).toEqual(["kibana.yml"]);
  });

  test("a pool of its name is refused", async () => {
    await using bench = await setUpSearch();
    await bench.apply(
      aCluster("logs", { pools: [aPool("dashboards", 1)], spec: { dashboards: { enable: true } } }),
    );
    const found = await bench.until("logs", (each) => messageOf(each).includes("must not be dashboards"));
    expect(conditionOf(found, "Stalled")).toBe("True/InvalidSpec");
  });
});
