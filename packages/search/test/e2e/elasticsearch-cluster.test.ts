import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

import { elasticsearchCluster } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";
import { pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { exporterSeries } from "../../src/exporter/index.ts";
import { queryService } from "./ask-service.ts";
import { writeExporterImage } from "./exporter-image.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";

const minute = 60_000;
const namespace = "team";
const name = "docs";
const { kind } = elasticsearchCluster;
const sample = new URL("../../../../config/samples/elasticsearch-trial.yaml", import.meta.url);

interface DeclaredCluster extends KubeObject {
  readonly spec: { readonly general: object };
}

/**
 * The sample of `make up WITH=elasticsearch`, in a namespace of this test and monitored: an account that is added later reaches the
 * pod with kubelet's next look at its volumes only.
 */
async function declared(): Promise<DeclaredCluster> {
  const documents = parseAllDocuments(await readFile(sample, "utf8")).map(
    (each) => each.toJS() as DeclaredCluster,
  );
  const cluster = documents.find((each) => each.kind === kind.kind);
  if (cluster === undefined) throw new Error("the sample has no ElasticsearchCluster");
  const general = { ...cluster.spec.general, monitoring: { enable: true, stack: { mode: "None" } } };
  return { ...cluster, metadata: { ...cluster.metadata, namespace }, spec: { ...cluster.spec, general } };
}

describe.runIf(hasRealNodes())("an ElasticsearchCluster on a real node", () => {
  let real: RealSearch;

  beforeAll(async () => {
    using exporter = writeExporterImage();
    real = await startRealSearch({
      images: [exporter.directory],
      kind,
      namespace,
      name,
      nodes: 1,
      engine: "elasticsearch",
      version: "7.17.28",
    });
  }, 15 * minute);

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  test(
    "[search/SC-101][licensing/T1] forms with TLS; our identity starts the trial that the label requests and reads it; access, engine and capacity are filled",
    async () => {
      await real.apply(await declared());
      const { status } = await real.until((each) => isReady(each) && each.status?.health === "green");
      expect(status).toMatchObject({
        phase: "RUNNING",
        version: "7.17.28",
        availableNodes: 1,
        access: { service: `${name}.${namespace}.svc`, port: 9200, caSecret: `${name}-http-cert` },
        engine: { transportTls: true, security: true, minVersion: "7.17.28", maxVersion: "7.17.28" },
        capacity: { desiredNodes: 1, presentNodes: 1, memoryBytes: 2 ** 30 },
        license: { type: "trial", state: "Applied" },
      });
      const { status: code, body } = await real.request("/_license", {
        login: await real.login(`${name}-operator-password`),
      });
      expect([code, body]).toEqual([200, expect.stringContaining('"trial"')]);
      expect((await real.request("/_license", { login: "elastic:changeme" })).status).toBe(401);
      expect((await real.request("/_cluster/health")).status).toBe(200);
    },
    8 * minute,
  );

  test(
    "[search/SC-86] the exporter serves everything but snapshots, which its built-in role may not list, and says which read failed",
    async () => {
      await real.until((each) => isReady(each) && each.status?.monitoring?.exporter === "Ready");
      const dial = async (): Promise<Socket> => await real.dialService(`${name}-exporter`, 9114);
      const { body: page } = await queryService({ dial }, "/metrics");
      expect(page).toContain(`opensearch_cluster_nodes_number{cluster="${name}"} 1\n`);
      const absent = exporterSeries.filter((each) => !page.includes(`# TYPE ${each.name} `));
      expect(absent.map((each) => each.name)).toEqual([
        "quartermaster_search_snapshot_last_success_timestamp_seconds",
      ]);
      const failed = [...page.matchAll(/read_success\{.*part="(\w+)"\} 0/g)].map(([, part]) => part);
      expect(failed).toEqual(["snapshots"]);
      const login = await real.login(`${name}-monitoring-password`);
      expect((await real.request("/_cluster/health", { login })).status).toBe(200);
      expect(
        (await real.request("/books/_doc/9", { login, method: "PUT", body: { title: "no" } })).status,
      ).toBe(403);
    },
    4 * minute,
  );

  test(
    "a changed password of the administrator works without a restart, and the old one does not",
    async () => {
      const [before] = await Array.fromAsync(real.client.list(pods, { namespace }));
      const old = await real.login(`${name}-admin-password`);
      const password = Buffer.from("another-Long-and-Winding-0road").toString("base64");
      await real.client.patch(
        secrets,
        { namespace, name: `${name}-admin-password` },
        { patch: { kind: "merge", body: { data: { password } } } },
      );
      await eventually(
        async (see) =>
          see((await real.request("/_license", { login: "admin:another-Long-and-Winding-0road" })).status) ===
          200,
        { withinMs: 3 * minute, everyMs: 1000 },
      );
      expect((await real.request("/_license", { login: old })).status).toBe(401);
      const [after] = await Array.fromAsync(real.client.list(pods, { namespace }));
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      expect(after?.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    },
    4 * minute,
  );
});
