import { elasticsearchCluster } from "@quartermaster/api";
import { pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aPool,
  anElasticsearch,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const { kind } = elasticsearchCluster;

async function textIn({ client, namespace }: SearchBench, name: string, key: string): Promise<string> {
  const { data } = await client.get(secrets, { namespace, name });
  return Buffer.from(data?.[key] ?? "", "base64").toString();
}

describe("an ElasticsearchCluster", () => {
  test("forms with TLS; access, engine and capacity are told; the operator has an account of its own", async () => {
    await using bench = await setUpSearch();
    const resources = { limits: { memory: "2Gi" } };
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 2, { resources })] }));
    const { status } = await bench.until("docs", isReady, kind);
    expect(status).toMatchObject({
      phase: "RUNNING",
      access: { service: `docs.${bench.namespace}.svc`, port: 9200, caSecret: "docs-http-cert" },
      engine: { transportTls: true, security: true, minVersion: "7.17.28", maxVersion: "7.17.28" },
      capacity: { desiredNodes: 2, presentNodes: 2, memoryBytes: 2 * 2 * 2 ** 30 },
    });
    expect(await textIn(bench, "docs-operator-password", "username")).toBe("quartermaster-operator");
    // base64url of 192 bits.
    expect(await textIn(bench, "docs-operator-password", "password")).toHaveLength(32);
    const operator = await bench.client.get(secrets, {
      namespace: bench.namespace,
      name: "docs-operator-password",
    });
    expect(operator.metadata.ownerReferences).toBeUndefined();
    const [pod] = await Array.fromAsync(bench.client.list(pods, { namespace: bench.namespace }));
    expect(JSON.stringify(pod?.spec)).not.toMatch(/operator-password|admin-password/);
  });

  test("a changed password of the administrator reaches the files once, and no pod is restarted", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 1)] }));
    await bench.until("docs", isReady, kind);
    const before = await textIn(bench, "docs-file-realm", "users");
    const uids = (await Array.fromAsync(client.list(pods, { namespace }))).map(
      ({ metadata }) => metadata.uid,
    );
    await client.patch(
      secrets,
      { namespace, name: "docs-admin-password" },
      { patch: { kind: "merge", body: { data: { password: Buffer.from("next").toString("base64") } } } },
    );
    await eventually(async () => (await textIn(bench, "docs-file-realm", "users")) !== before);
    const after = await textIn(bench, "docs-file-realm", "users");
    const lineOf = (text: string, user: string): string | undefined =>
      text.split("\n").find((line) => line.startsWith(`${user}:`));
    expect(lineOf(after, "quartermaster-operator")).toBe(lineOf(before, "quartermaster-operator"));
    expect(lineOf(after, "admin")).not.toBe(lineOf(before, "admin"));
    await bench.until("docs", isReady, kind);
    expect(
      (await Array.fromAsync(client.list(pods, { namespace }))).map(({ metadata }) => metadata.uid),
    ).toEqual(uids);
    const position = await bench.cluster.audit.position();
    const general = { networkPolicy: { enable: false } };
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 1)], general }));
    await bench.until("docs", isReady, kind);
    expect((await bench.writes(position)).filter(({ resource }) => resource === "secrets")).toEqual([]);
  });

  test("a Secret of another client under the realm's name is never used", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "docs-file-realm", namespace },
      stringData: { users: "mallory:x\n", users_roles: "superuser:mallory\n" },
    });
    await bench.apply(anElasticsearch("docs", { pools: [aPool("nodes", 1)] }));
    const found = await bench.until(
      "docs",
      (each) => conditionOf(each, "CertificatesValid") === "False/SecretConflict",
      kind,
    );
    expect(JSON.stringify(found.status?.blockers)).toContain("docs-file-realm");
    expect(await Array.fromAsync(client.list(pods, { namespace }))).toEqual([]);
    await client.delete(secrets, { namespace, name: "docs-file-realm" });
    await bench.until("docs", isReady, kind);
  });
});
