import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { openSearchCluster } from "@quartermaster/api";
import type { Live } from "@quartermaster/runtime";
import { configMaps, jobs, persistentVolumeClaims, pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually, hasRealNodes, prometheusProgram, startPrometheus } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { exporterSeries } from "../../src/exporter/index.ts";
import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { allCrashes, everyWrite, liveThrough } from "../support/live-and-die.ts";
import { panelQueries, panelsThatAreEmpty, panelsWithoutData } from "../support/panel-queries.ts";
import { leanJvm } from "./engine-pods.ts";
import { writeExporterImage } from "./exporter-image.ts";
import { openDoor } from "./open-door.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";
import { watchUnready } from "./watch-unready.ts";

const minute = 60_000;
const namespace = "team";
const pool = (component: string, replicas: number, roles: readonly string[]): object => ({
  component,
  replicas,
  roles,
  diskSize: "1Gi",
  jvm: leanJvm,
});
/** `make campaign` takes the size that people run. */
const isCampaign = process.env["QM_CAMPAIGN"] === "1";
const size = isCampaign ? { managers: 3, data: 3 } : { managers: 1, data: 2 };
const declared = {
  apiVersion: "opensearch.org/v1",
  kind: "OpenSearchCluster",
  metadata: { name: "logs", namespace },
  spec: {
    general: {
      serviceName: "logs",
      version: "2.19.4",
      additionalConfig: { "path.repo": "/snapshots" },
      additionalVolumes: [{ name: "snapshots", path: "/snapshots", emptyDir: {} }],
    },
    nodePools: [
      pool("managers", size.managers, ["cluster_manager"]),
      pool("data", size.data, ["data", "ingest"]),
    ],
  },
};
const total = size.managers + size.data;

describe.runIf(hasRealNodes())("an OpenSearchCluster on real nodes", () => {
  let real: RealSearch;
  let uuid = "";
  /** Pods before monitoring was turned on. */
  let unmonitored: ReadonlyMap<string, string> = new Map();

  beforeAll(async () => {
    using exporter = writeExporterImage();
    real = await startRealSearch({
      images: [exporter.directory],
      kind: openSearchCluster.kind,
      namespace,
      name: "logs",
      nodes: 2,
      engine: "opensearch",
      version: "2.19.4",
    });
  }, 15 * minute);

  const restart = { "search.quartermaster.dev/restart": "1" };
  const isCurrent = ({
    outdatedBecause = [],
  }: {
    readonly outdatedBecause?: readonly string[] | undefined;
  }): boolean => outdatedBecause.length === 0;

  function isShrunk(found: Live<ClusterObject>): boolean {
    return isReady(found) && found.status?.availableNodes === total && found.status.operation === undefined;
  }

  /** Until it is done. The operator is killed once in each way, in a campaign at every write; says how many lives it took. */
  async function carryOut(object: object, isDone: (found: Live<ClusterObject>) => boolean): Promise<number> {
    await real.stop();
    await real.apply(object);
    const crashes = isCampaign ? everyWrite(allCrashes[0]) : allCrashes;
    const lives = await liveThrough(real, crashes, async () => isDone(await real.get()));
    await real.operate(real.operator);
    await real.until(isDone);
    return lives;
  }

  async function podUids(): Promise<ReadonlyMap<string, string>> {
    const list = await Array.fromAsync(real.client.list(pods, { namespace }));
    return new Map(list.map(({ metadata }) => [metadata.name, metadata.uid]));
  }

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  test(
    "[search/SC-35] from nothing to green: initialised without a Job, no demo users, generated password only",
    async () => {
      await real.apply(declared);
      const found = await real.until((each) => isReady(each) && each.status?.health === "green");
      uuid = found.status?.clusterUuid ?? "";
      expect(uuid).not.toBe("");
      expect(found.status).toMatchObject({ phase: "RUNNING", availableNodes: total, version: "2.19.4" });
      expect(await Array.fromAsync(real.client.list(jobs, { namespace }))).toEqual([]);
      const users = await real.request("/_plugins/_security/api/internalusers");
      expect(Object.keys(JSON.parse(users.body) as object)).toEqual(["admin"]);
      expect((await real.request("/", { login: "admin:admin" })).status).toBe(401);
      expect((await real.request("/", { login: "kibanaserver:kibanaserver" })).status).toBe(401);
      const list = await real.client.get(configMaps, { namespace, name: "logs-bootstrap" });
      expect(Object.values(list.data ?? {})).toEqual([""]);
    },
    6 * minute,
  );

  test("a document is indexed and found through the Service", async () => {
    const made = await real.request("/books/_doc/1?refresh=true", { method: "PUT", body: { title: "Emma" } });
    expect(made.status).toBe(201);
    expect((await real.request("/books/_search?q=title:emma")).body).toContain('"Emma"');
  });

  test(
    "[search/SC-86] monitoring turned on: series scraped, and a user that cannot write",
    async () => {
      unmonitored = await podUids();
      const general = { ...declared.spec.general, monitoring: { enable: true, stack: { mode: "None" } } };
      await real.apply({ ...declared, spec: { ...declared.spec, general } });
      await real.until((each) => isReady(each) && each.status?.monitoring?.exporter === "Ready");
      await using door = await openDoor(async () => await real.dialService("logs-exporter", 9114));
      const scrape = async (): Promise<string> =>
        await (await fetch(`http://127.0.0.1:${String(door.port)}/metrics`)).text();
      const page = await scrape();
      expect(page).toContain(`opensearch_cluster_nodes_number{cluster="logs"} ${String(total)}\n`);
      expect(page).toContain(`quartermaster_search_expected_nodes{cluster="logs"} ${String(total)}\n`);
      // No repository is registered, so there is no snapshot to be told of.
      const absent = exporterSeries.filter(({ name }) => !page.includes(`# TYPE ${name} `));
      expect(absent.map(({ name }) => name)).toEqual([
        "quartermaster_search_snapshot_last_success_timestamp_seconds",
      ]);

      const login = await real.login("logs-monitoring-password");
      const request = async (path: string, question: object = {}): Promise<number> =>
        (await real.request(path, { login, ...question })).status;
      expect(await request("/_cluster/health")).toBe(200);
      expect(await request("/books/_search")).toBe(403);
      expect(await request("/books/_doc/9", { method: "PUT", body: { title: "no" } })).toBe(403);
      const settings = { persistent: { "cluster.max_shards_per_node": 900 } };
      expect(await request("/_cluster/settings", { method: "PUT", body: settings })).toBe(403);
      expect(await request("/books", { method: "DELETE" })).toBe(403);
    },
    4 * minute,
  );

  test(
    "[search/SC-86] every dashboard query is answered by a real Prometheus that scrapes the exporter",
    async ({ skip }) => {
      const program = prometheusProgram("prometheus") ?? skip("no Prometheus can be had on this machine");
      await using door = await openDoor(async () => await real.dialService("logs-exporter", 9114));
      const { data } = await real.client.get(configMaps, { namespace, name: "logs-alerts" });
      await using prometheus = await startPrometheus(program, {
        port: door.port,
        rules: data?.["alerts.json"] ?? "",
        labels: { namespace },
      });
      await prometheus.until("/api/v1/query?query=opensearch_cluster_status", (output) =>
        output.includes('"cluster":"logs"'),
      );
      await prometheus.until("/api/v1/rules", (output) => output.split('"health":"ok"').length === 19);
      const empty = await eventually(
        async (see) => {
          // Times of a query or a write have values only while there are some.
          await real.request("/books/_search?q=title:emma");
          await real.request("/books/_doc/2?refresh=true", { method: "PUT", body: { title: "Persuasion" } });
          const found = await panelsThatAreEmpty(
            panelQueries({ namespace, cluster: "logs" }),
            async (path) => await prometheus.until(path, () => true),
          );
          return isDeepStrictEqual(see(found), Object.keys(panelsWithoutData).toSorted()) ? found : undefined;
        },
        { withinMs: minute, everyMs: 2_000 },
      );
      expect(empty).toEqual(Object.keys(panelsWithoutData).toSorted());
    },
    3 * minute,
  );

  test(
    "[search/SC-86] monitoring turned off again: its user is deleted, and no node was restarted",
    async () => {
      const login = await real.login("logs-monitoring-password");
      const request = async (path: string): Promise<number> => (await real.request(path, { login })).status;
      await using door = await openDoor(async () => await real.dialService("logs-exporter", 9114));
      const scrape = async (): Promise<string> =>
        await (await fetch(`http://127.0.0.1:${String(door.port)}/metrics`)).text();
      // Nodes learn of a new role one after the other, and a refusal is remembered for a minute.
      await eventually(async (see) => see((await scrape()).match(/read_success\{.*\} 0/g)) === null, {
        withinMs: 2 * minute,
        everyMs: 2_000,
      });

      await real.apply(declared);
      await real.until((each) => isReady(each) && each.status?.monitoring === undefined);
      await eventually(async (see) => see(await request("/_cluster/health")) === 401, { withinMs: minute });
      await eventually(async (see) => see((await podUids()).size) === unmonitored.size, {
        withinMs: minute,
      });
      expect(await podUids()).toEqual(unmonitored);
    },
    6 * minute,
  );

  test(
    "[search/SC-111] a setting and a repository are added and dropped by the engine's API: those of others stay, no restart",
    async () => {
      const before = await podUids();
      const [rate, shards] = ["indices.recovery.max_bytes_per_sec", "cluster.max_shards_per_node"];
      const foreign = { type: "fs", settings: { location: "/snapshots/theirs" } };
      await real.request("/_snapshot/theirs?verify=false", { method: "PUT", body: foreign });
      await real.request("/_cluster/settings", { method: "PUT", body: { persistent: { [shards]: "900" } } });
      const reported = async (path: string): Promise<unknown> => JSON.parse((await real.request(path)).body);
      const general = {
        ...declared.spec.general,
        clusterSettings: { [rate]: "30mb" },
        // Each pod has a directory of its own: nodes can all read it, and share nothing that they write.
        snapshotRepositories: [
          { name: "backup", type: "fs", settings: { location: "/snapshots", readonly: "true" } },
        ],
      };
      await real.apply({ ...declared, spec: { ...declared.spec, general } });
      const added = await real.until(isReady);
      expect(added.status?.repositories).toMatchObject([{ name: "backup", verified: true }]);
      expect(Object.keys((await reported("/_snapshot")) as object).toSorted()).toEqual(["backup", "theirs"]);
      expect(await reported("/_cluster/settings?flat_settings=true")).toMatchObject({
        persistent: { [rate]: "30mb", [shards]: "900" },
      });
      const written = { ...general, snapshotRepositories: [{ name: "backup", ...foreign }] };
      await real.apply({ ...declared, spec: { ...declared.spec, general: written } });
      await real.until((each) =>
        (each.status?.conditions ?? []).some(({ reason }) => reason === "RepositoryUnverified"),
      );
      await real.apply(declared);
      await real.until(isReady);
      expect(Object.keys((await reported("/_snapshot")) as object)).toEqual(["theirs"]);
      expect(await reported("/_cluster/settings?flat_settings=true")).toMatchObject({
        persistent: { [shards]: "900" },
      });
      expect(await podUids()).toEqual(before);
      await real.request("/_snapshot/theirs", { method: "DELETE" });
      await real.request("/_cluster/settings", { method: "PUT", body: { persistent: { [shards]: null } } });
    },
    2 * minute,
  );

  test(
    "[search/SC-36] [search/SC-37] users and roles made by others survive an edit of the security Secret; all five users of the file exist",
    async () => {
      const api = "/_plugins/_security/api";
      expect(
        (
          await real.request(`${api}/roles/by-api`, {
            method: "PUT",
            body: { cluster_permissions: ["cluster_monitor"] },
          })
        ).status,
      ).toBe(201);
      expect(
        (
          await real.request(`${api}/internalusers/by-ui`, {
            method: "PUT",
            body: { password: "a-Long-and-Winding-0road" },
          })
        ).status,
      ).toBe(201);
      const hash = "$2y$12$88IFVl6IfIwCFh5aQYfOmuXVL9j2hz/GusQb35o.4sdTDAEMTOD.K";
      const names = ["one", "two", "three", "four", "five"];
      const file = names
        .map((name) => `${name}:\n  hash: "${hash}"\n  backend_roles: ["readers"]\n`)
        .join("");
      await real.client.create(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "security", namespace },
        stringData: { "internal_users.yml": `_meta:\n  type: internalusers\n  config_version: 2\n${file}` },
      });
      await real.apply({
        ...declared,
        spec: { ...declared.spec, security: { config: { securityConfigSecret: { name: "security" } } } },
      });
      await eventually(async (see) => {
        const users = see(
          Object.keys(JSON.parse((await real.request(`${api}/internalusers`)).body) as object),
        );
        return names.every((name) => users.includes(name)) && users.includes("by-ui");
      });
      expect((await real.request(`${api}/roles/by-api`)).status).toBe(200);
      await real.until(isReady);
    },
    3 * minute,
  );

  test(
    "[search/SC-38] [search/SC-27] [faults/40] a changed password of the administrator works, and renewed certificates are served by every node: no restart, no failed request, and no pod is unready at any moment",
    async () => {
      const before = await podUids();
      await using watch = await watchUnready(real.operator, namespace);
      const old = await real.login("logs-admin-password");
      const next = "another-Long-and-Winding-0road";
      await real.client.patch(
        secrets,
        { namespace, name: "logs-admin-password" },
        { patch: { kind: "merge", body: { data: { password: Buffer.from(next).toString("base64") } } } },
      );
      await eventually(
        async (see) => see(await real.request("/", { login: `admin:${next}` })).status === 200,
        {
          withinMs: minute,
          everyMs: 500,
        },
      );
      expect((await real.request("/", { login: old })).status).toBe(401);
      const changedMs = performance.now();
      const load = await real.load("renewal", { number_of_shards: 1, number_of_replicas: 1 });
      const { status } = await real.until((found) => found.status?.certificates?.served !== undefined);
      await real.apply({
        ...declared,
        metadata: {
          ...declared.metadata,
          annotations: { "search.quartermaster.dev/renew-certificates": "1" },
        },
      });
      const renewed = await real.until(
        ({ status: { certificates = {} } = {} }) =>
          certificates.renewed === "1" &&
          certificates.served !== status?.certificates?.served &&
          certificates.staleNodes === undefined,
      );
      expect(renewed.status?.health).toBe("green");
      const { data } = await real.client.get(secrets, { namespace, name: "logs-http-cert" });
      const written = new X509Certificate(Buffer.from(data?.["tls.crt"] ?? "", "base64")).fingerprint256;
      const list = await Array.fromAsync(real.client.list(pods, { namespace }));
      const shown = await Promise.all(list.map(async (pod) => await real.shown(pod.status?.podIP ?? "")));
      expect(shown).toEqual(list.map(() => written));
      expect(await podUids()).toEqual(before);
      // As long as three probes in a row take: after those a pod would be unready, if they used the password.
      await eventually(() => performance.now() - changedMs > 20_000 || undefined);
      expect(watch.unready).toEqual([]);
      const tally = await load.end();
      expect(tally).toMatchObject({ failed: [], lost: [], red: 0 });
    },
    8 * minute,
  );

  test(
    "[search/SC-42] [search/SC-60] [search/SC-107] under constant reads and writes every node restarts once, and a data node is added and removed, the operator killed on the way in each of three ways, in a campaign at every write: no request fails, no document is lost, never red",
    async () => {
      const load = await real.load("orders", { number_of_shards: 2, number_of_replicas: 1 });
      const before = await podUids();
      const grown = { ...declared, metadata: { ...declared.metadata, annotations: restart } };
      const isRolled = (found: Live<ClusterObject>): boolean =>
        isReady(found) &&
        found.status?.restarted?.length === 1 &&
        found.status.operation === undefined &&
        found.status.nodes?.every(isCurrent) === true;
      const livesOfRoll = await carryOut(grown, isRolled);
      const after = await podUids();
      expect([...before].filter(([name, uid]) => after.get(name) === uid)).toEqual([]);
      const [managers = {}] = declared.spec.nodePools;
      const sized = (replicas: number): object => ({
        ...grown,
        spec: { ...declared.spec, nodePools: [managers, pool("data", replicas, ["data", "ingest"])] },
      });
      await real.apply(sized(size.data + 1));
      await real.until((found) => isReady(found) && found.status?.availableNodes === total + 1);
      const lives = await carryOut(sized(size.data), isShrunk);
      expect(Math.min(lives, livesOfRoll)).toBeGreaterThan(allCrashes.length);
      const settings = await real.request("/_cluster/settings?flat_settings=true");
      expect(JSON.parse(settings.body)).toEqual({ persistent: {}, transient: {} });
      const tally = await load.end();
      expect(tally).toMatchObject({ failed: [], lost: [], red: 0 });
      expect(tally.written).toBeGreaterThan(100);
      process.stdout.write(`${JSON.stringify({ ...tally, livesOfRoll, lives })}\n`);
    },
    10 * minute,
  );

  test(
    "[search/SC-13] [search/SC-19] [faults/35] all pods killed together, the only manager too: the same cluster comes back with its documents",
    async () => {
      for (const { metadata } of await Array.fromAsync(real.client.list(pods, { namespace })))
        await real.client.delete(pods, metadata, { gracePeriodSeconds: 0 });
      await real.until((found) => !isReady(found));
      const back = await real.until((found) => isReady(found) && found.status?.health === "green");
      expect(back.status?.clusterUuid).toBe(uuid);
      expect((await real.request("/books/_doc/1")).body).toContain('"Emma"');
    },
    6 * minute,
  );

  test(
    "[search/SC-16] deleted with Retain and applied again: the same UUID, all documents, the same password",
    async () => {
      const before = await real.login("logs-admin-password");
      await real.client.delete(openSearchCluster.kind, { namespace, name: "logs" });
      await eventually(
        async (see) => see(await Array.fromAsync(real.client.list(pods, { namespace }))).length === 0,
        { withinMs: 2 * minute },
      );
      await eventually(
        async () =>
          (await real.client.find(openSearchCluster.kind, { namespace, name: "logs" })) === undefined,
      );
      expect(await Array.fromAsync(real.client.list(persistentVolumeClaims, { namespace }))).toHaveLength(
        total + 1,
      );
      await real.apply(declared);
      const back = await real.until((found) => isReady(found) && found.status?.health === "green");
      expect(back.status?.clusterUuid).toBe(uuid);
      expect(back.status?.bootstrap?.mode).toBe("Recover");
      expect(await real.login("logs-admin-password")).toBe(before);
      expect((await real.request("/books/_doc/1")).body).toContain('"Emma"');
    },
    6 * minute,
  );
});
