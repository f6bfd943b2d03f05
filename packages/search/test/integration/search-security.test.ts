import { openSearchCluster } from "@quartermaster/api";
import { pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const pools = [aPool("nodes", 1)];

async function withRoles({ client, namespace }: SearchBench, roles: string): Promise<void> {
  await client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "security", namespace },
    stringData: { "roles.yml": roles },
  });
}

describe("users and roles", () => {
  test("[search/SC-39] a role that the engine refuses is named, and the others are applied", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    await withRoles(
      bench,
      'all_access:\n  cluster_permissions: ["*"]\nreader:\n  cluster_permissions: ["cluster_monitor"]\n',
    );
    const security = { config: { securityConfigSecret: { name: "security" } } };
    await bench.apply(aCluster("logs", { pools, spec: { security } }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/SecurityRefused",
    );
    expect(messageOf(refused)).toContain("roles/all_access");
    const applied = await bench.client.get(secrets, {
      namespace: bench.namespace,
      name: "logs-security-applied",
    });
    const record = Buffer.from(applied.data?.["applied"] ?? "", "base64").toString();
    expect(record).toContain("roles/reader");
    expect(record).not.toContain("roles/all_access");
  });

  test("a password is hashed with as much work as the engine's own tool would", async () => {
    await using bench = await setUpSearch({ hashesAsShipped: true });
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const ref = { namespace: bench.namespace, name: "logs-security-applied" };
    const { data } = await bench.client.get(secrets, ref);
    expect(Buffer.from(data?.["applied"] ?? "", "base64").toString()).toMatch(/"hash":"\$2[ab]\$12\$/);
  });

  test("[search/SC-26] one data node with its audit log in an index gets green; what the author sets later stays", async () => {
    await using bench = await setUpSearch();
    const audited = { additionalConfig: { "plugins.security.audit.type": "internal_opensearch" } };
    await bench.apply(aCluster("logs", { pools, general: audited }));
    await bench.until("logs", (found) => found.status?.clusterUuid !== undefined);
    const engine = bench.engines.engine("logs");
    // As the plugin does with the first event of the day: one replica, which has no place.
    engine.createIndex("logs-nodes-0", {
      name: "security-auditlog-2026.11.17",
      shards: 1,
      replicas: 1,
      documents: 1,
    });
    await bench.until("logs", (found) => isReady(found) && found.status?.health === "green");
    engine.createIndex("logs-nodes-0", {
      name: "security-auditlog-2026.11.18",
      shards: 1,
      replicas: 1,
      documents: 1,
    });
    const calls = (): number => bench.engines.calls.filter((call) => call === "fitReplicas").length;
    expect(calls()).toBe(1);
    // A look later nothing is done again.
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)], general: audited }));
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 2);
    expect(calls()).toBe(1);
    expect(engine.lostShards()).toEqual([]);
  });

  test("[search/SC-40] nothing is written before two clean reads say that there is nothing", async () => {
    await using bench = await setUpSearch();
    bench.engines
      .engine("logs")
      .faults.plan({ call: "hasSecurityIndex", fault: { kind: "throw", code: "unavailable" }, times: 2 });
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const { calls } = bench.engines;
    const first = calls.indexOf("initSecurity");
    expect(calls.slice(0, first).filter((call) => call === "hasSecurityIndex").length).toBeGreaterThanOrEqual(
      4,
    );
    expect(calls.filter((call) => call === "initSecurity")).toHaveLength(1);
  });
});

describe("a start that was cut short", () => {
  test("[security/106] security initialization that is killed after any document continues until all are there", async () => {
    await using bench = await setUpSearch();
    const cuts = [0, 1, 2, 3, 4, 5];
    const name = (cut: number): string => `cut-${String(cut)}`;
    for (const cut of cuts) {
      bench.engines.engine(name(cut)).mostDocuments = cut;
      await bench.apply(aCluster(name(cut), { pools }));
    }
    // Each engine has taken as many documents as it can.
    for (const cut of cuts)
      await eventually((see) => see(bench.engines.engine(name(cut)).securityDocuments()).length === cut);
    await bench.stop();
    expect(isReady(await bench.get(name(2)))).toBe(false);
    for (const cut of cuts) bench.engines.engine(name(cut)).mostDocuments = Number.POSITIVE_INFINITY;
    await bench.operate();
    for (const cut of cuts) {
      await bench.until(name(cut), isReady);
      expect(bench.engines.engine(name(cut)).securityDocuments()).toHaveLength(6);
    }
  });

  test("[security/106] what is declared between two attempts is applied, also to documents of the first one", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const roles = (permission: string): string => `reader: { cluster_permissions: [${permission}] }\n`;
    await withRoles(bench, roles("first"));
    const engine = bench.engines.engine("logs");
    engine.mostDocuments = 3;
    await bench.apply(
      aCluster("logs", {
        pools,
        spec: { security: { config: { securityConfigSecret: { name: "security" } } } },
      }),
    );
    await eventually((see) => see(engine.securityDocuments()).includes("roles"));
    await client.patch(
      secrets,
      { namespace, name: "security" },
      { patch: { kind: "merge", body: { stringData: { "roles.yml": roles("second") } } } },
    );
    engine.mostDocuments = Number.POSITIVE_INFINITY;
    await bench.until("logs", isReady);
    expect(engine.securityEntity("roles", "reader")).toMatchObject({ cluster_permissions: ["second"] });
  });

  test("[search/SC-116] deleted in mid-bootstrap and applied again over its blank volumes: founded by the same nodes", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const three = [aPool("nodes", 3)];
    for (const ordinal of [0, 1, 2]) bench.engines.down.add(`logs-nodes-${String(ordinal)}`);
    await bench.apply(aCluster("logs", { pools: three }));
    // Its pods run, and no one answers.
    await eventually(async () => {
      const list = await Array.fromAsync(client.list(pods, { namespace }));
      return list.filter(({ status }) => status?.phase === "Running").length === 3 || undefined;
    });
    await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    await eventually(
      async () => (await client.find(openSearchCluster.kind, { namespace, name: "logs" })) === undefined,
    );
    bench.engines.down.clear();
    await bench.apply(aCluster("logs", { pools: three }));
    const ready = await bench.until("logs", isReady);
    expect(ready.status?.bootstrap?.mode).toBe("Recover");
    expect(bench.engines.engine("logs").uuids).toEqual([ready.status?.clusterUuid]);
  });
});
