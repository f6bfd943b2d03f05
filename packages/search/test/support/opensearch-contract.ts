import type { EngineClient, EngineTarget, SecurityDocuments } from "@quartermaster/search";
import { EngineError } from "@quartermaster/search";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { adminSubject, type EngineScene, nodeFiles, nodeNames } from "./engine-scene.ts";
import { TestCa } from "./test-certificates.ts";

const { manager, data } = nodeNames;
const [firstData, secondData] = data;
const allNodes = [manager, ...data];

/** What a cluster of ours starts with: the login of people, and no one yet. */
const documents: SecurityDocuments = {
  config: {
    config: {
      dynamic: {
        authc: {
          basic_internal_auth_domain: {
            http_enabled: true,
            transport_enabled: true,
            order: 0,
            http_authenticator: { type: "basic", challenge: true },
            authentication_backend: { type: "intern" },
          },
        },
      },
    },
  },
  roles: {},
  rolesmapping: {},
  internalusers: {},
  actiongroups: {},
  tenants: {},
};

/** The code that a call fails with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

/** The first start fetches the engine. */
const startLimitMs = 600_000;

/** What every EngineClient for OpenSearch must do, in this order: one cluster lives through all of it. */
export function opensearchContract(name: string, startScene: () => Promise<EngineScene>): void {
  describe(`${name} keeps the contract of EngineClient for OpenSearch`, () => {
    let scene: EngineScene;
    let client: EngineClient;
    const stack = new AsyncDisposableStack();
    let uuid: string | undefined;

    beforeAll(async () => {
      scene = await startScene();
      client = scene.connect(scene.target);
      stack.use(scene);
      stack.defer(client.close.bind(client));
      await scene.until(async () => {
        const { nodes } = await client.health().catch(noHealth);
        return nodes === allNodes.length;
      });
    }, startLimitMs);

    afterAll(async () => {
      await stack.disposeAsync();
    });

    async function withTarget<T>(
      change: Partial<EngineTarget>,
      use: (other: EngineClient) => Promise<T>,
    ): Promise<T> {
      const other = scene.connect({ ...scene.target, ...change });
      try {
        return await use(other);
      } finally {
        await other.close();
      }
    }

    function tlsWith(change: Partial<NonNullable<EngineTarget["tls"]>>): Partial<EngineTarget> {
      const { tls } = scene.target;
      return tls === undefined ? {} : { tls: { ...tls, ...change } };
    }

    test("every node tells the same cluster, its own name and its version", async () => {
      const identities = await Promise.all(allNodes.map(async (node) => await client.identity(node)));
      uuid = identities[0]?.clusterUuid;
      expect(uuid).toMatch(/^[\w-]{10,}$/);
      expect(identities).toEqual(
        allNodes.map((node) => ({
          node,
          version: scene.version,
          clusterName: "contract",
          clusterUuid: uuid,
          hasVoters: true,
        })),
      );
    });

    test("health, members, voters and the elected manager agree", async () => {
      const health = await client.health();
      const nodes = await client.nodes();
      expect(health).toMatchObject({ nodes: 3, dataNodes: 2 });
      expect(nodes.map((node) => node.name).toSorted()).toEqual(allNodes.toSorted());
      expect(nodes.filter((node) => node.isElected).map((node) => node.name)).toEqual([manager]);
      expect(nodes.find((node) => node.name === manager)?.roles).toContain("cluster_manager");
      expect(nodes.find((node) => node.name === firstData)?.roles).toContain("data");
      expect(await client.coordination()).toEqual({
        clusterUuid: uuid,
        voters: [manager],
        exclusions: [],
        elected: manager,
      });
    });

    test("without the security index no node serves and no entity is told", async () => {
      const serving = await Promise.all(allNodes.map(async (node) => await client.isServing(node)));
      expect(serving).toEqual([false, false, false]);
      expect(await client.hasSecurityIndex()).toBe(false);
      expect(await codeOf(client.entities("roles"))).toBe("unavailable");
      expect(await client.shards()).toEqual([]);
    });

    test("[security/106] an index that lacks a document is not initialized; the next attempt makes what is missing", async () => {
      const { config, roles } = documents;
      const two = { config, roles } as typeof documents;
      await scene.until(async () => (await codeOf(client.initSecurity(two))) === "ok");
      expect(await client.hasSecurityIndex()).toBe(false);
      expect(await client.isServing(firstData)).toBe(false);
      // On a busy machine a call may take longer than its limit; what it left undone is made up for.
      let created: readonly string[] = [];
      await scene.until(async () => {
        created = [...created, ...(await client.initSecurity(documents).catch(() => []))];
        return await client.hasSecurityIndex();
      });
      expect(["config", "roles"].filter((type) => created.includes(type))).toEqual([]);
    });

    test("initialising twice is as good as once, and every node serves in the end", async () => {
      const late = { ...documents, roles: { late: { cluster_permissions: [] } } };
      await scene.until(async () => (await codeOf(client.initSecurity(late))) === "ok");
      expect(await client.hasSecurityIndex()).toBe(true);
      await scene.until(async () => {
        const serving = await Promise.all(allNodes.map(async (node) => await client.isServing(node)));
        return serving.every((isServing) => isServing);
      });
      expect((await client.entities("roles")).has("late")).toBe(false);
    });

    test("entities are created, shown without secrets, replaced and deleted one by one", async () => {
      await client.putEntity("roles", "reader", { cluster_permissions: ["cluster_monitor"] });
      await client.putEntity("rolesmapping", "reader", { users: ["ann"] });
      await client.putEntity("internalusers", "ann", {
        password: "Correct-Horse-9!",
        attributes: { team: "a" },
      });
      expect((await client.entities("roles")).get("reader")).toMatchObject({
        cluster_permissions: ["cluster_monitor"],
        static: false,
      });
      expect((await client.entities("internalusers")).get("ann")).toMatchObject({
        hash: "",
        attributes: { team: "a" },
      });
      await client.putEntity("rolesmapping", "reader", { users: ["ann", "bob"] });
      expect((await client.entities("rolesmapping")).get("reader")).toMatchObject({ users: ["ann", "bob"] });
      await client.deleteEntity("internalusers", "ann");
      await client.deleteEntity("internalusers", "ann");
      expect((await client.entities("internalusers")).has("ann")).toBe(false);
    });

    test("a mapping to a role that is not there and a change of a static role are refused", async () => {
      expect(await codeOf(client.putEntity("rolesmapping", "no-such-role", { users: ["ann"] }))).toBe(
        "notFound",
      );
      expect(await codeOf(client.putEntity("roles", "all_access", { cluster_permissions: [] }))).toBe(
        "invalid",
      );
      expect(await codeOf(client.deleteEntity("roles", "all_access"))).toBe("invalid");
    });

    test("a reserved entity stays reserved when another client replaces it", async () => {
      await client.putEntity("roles", "ours", { reserved: true, cluster_permissions: [] });
      await client.putEntity("roles", "ours", { cluster_permissions: ["cluster_monitor"] });
      expect((await client.entities("roles")).get("ours")).toMatchObject({
        reserved: true,
        cluster_permissions: ["cluster_monitor"],
      });
    });

    test("writers of one type at the same time lose nothing", async () => {
      const names = Array.from({ length: 8 }, (_, at) => `crowd-${String(at)}`);
      await withTarget({ endpoints: scene.target.endpoints.toReversed() }, async (other) => {
        await Promise.all(
          names.map(async (role, at) => {
            await (at % 2 === 0 ? client : other).putEntity("tenants", role, { description: role });
          }),
        );
      });
      const tenants = await client.entities("tenants");
      expect(names.filter((role) => !tenants.has(role))).toEqual([]);
    });

    test("copies are told once each, as the nodes' own statistics count them", async () => {
      await scene.createIndex("twice", { shards: 2, replicas: 1 });
      await scene.createIndex("once", { shards: 2, replicas: 0 });
      await scene.until(async () => (await client.health()).status === "green");
      const rows = await client.shards();
      const twice = rows.filter(({ index }) => index === "twice");
      expect(twice.map(({ shard, isPrimary, state }) => `${shard} ${isPrimary} ${state}`).toSorted()).toEqual(
        ["0 false STARTED", "0 true STARTED", "1 false STARTED", "1 true STARTED"],
      );
      const load = await client.nodeLoad();
      for (const node of allNodes) {
        expect(load.find((entry) => entry.node === node)?.shards).toBe(
          rows.filter((row) => row.node === node).length,
        );
      }
      for (const { cpuPercent, heapPercent, diskTotalBytes, diskFreeBytes, ...threads } of load) {
        expect(cpuPercent).toBeLessThanOrEqual(100);
        expect(heapPercent).toBeLessThanOrEqual(100);
        expect(diskFreeBytes).toBeLessThan(diskTotalBytes ?? 0);
        expect([threads.searchQueue, threads.writeRejections]).toEqual([0, 0]);
      }
    });

    test("indices that are fitted, and those to come under the pattern, follow the number of nodes; others do not", async () => {
      await scene.createIndex("fitted-now", { shards: 1, replicas: 1 });
      await client.fitReplicas({ template: "contract", pattern: "fitted-*", indices: ["fitted-now"] });
      await scene.createIndex("fitted-later", { shards: 1, replicas: 1 });
      const rows = await client.indices();
      const fitted = rows.filter(({ isAutoExpanded }) => isAutoExpanded).map((row) => row.name);
      expect(fitted).toContain("fitted-now");
      expect(fitted).toContain("fitted-later");
      expect(fitted).not.toContain("twice");
      await scene.until(async () => (await client.health()).status === "green");
    });

    test("settings are set, read back, reset, and others stay", async () => {
      const enable = "cluster.routing.allocation.enable";
      const rate = "cluster.routing.allocation.node_concurrent_recoveries";
      await client.putSettings({ persistent: { [rate]: "3" }, transient: { [enable]: "primaries" } });
      expect(await client.settings()).toMatchObject({
        persistent: { [rate]: "3" },
        transient: { [enable]: "primaries" },
      });
      await client.putSettings({ transient: { [enable]: null } });
      const settings = await client.settings();
      expect(settings.transient).not.toHaveProperty([enable]);
      expect(settings.persistent).toMatchObject({ [rate]: "3" });
    });

    test("an excluded node loses the copies that may move and keeps the others, although all is green", async () => {
      const exclude = "cluster.routing.allocation.exclude._name";
      await client.putSettings({ transient: { [exclude]: secondData } });
      const rows = await scene.until(async () => {
        const now = await client.shards();
        const isMoved = now.every(({ index, node }) => index !== "once" || node === firstData);
        return isMoved && now;
      });
      // Health lags behind the table: first the last copy arrives, then nothing moves any more.
      const health = await scene.until(async () => {
        const now = await client.health();
        return now.relocatingShards === 0 && now;
      });
      expect(health.status).toBe("green");
      const stuck = rows.filter(({ index, node }) => index === "twice" && node === secondData);
      expect(stuck).toHaveLength(2);
      for (const copy of stuck) {
        const { nodes, text } = await client.explain(copy);
        expect(nodes).toEqual([{ node: firstData, deciders: ["same_shard"] }]);
        expect(text).toContain("same_shard: ");
      }
      await client.putSettings({ transient: { [exclude]: null } });
    });

    test("a copy that is not placed is explained by what each node says to it", async () => {
      const enable = "cluster.routing.allocation.enable";
      await client.putSettings({ transient: { [enable]: "primaries" } });
      await scene.createIndex("waiting", { shards: 1, replicas: 1 });
      const copy = await scene.until(async () => {
        const rows = (await client.shards()).filter(({ index }) => index === "waiting");
        const isPlaced = rows.some(({ isPrimary, state }) => isPrimary && state === "STARTED");
        return isPlaced && rows.find(({ state }) => state === "UNASSIGNED");
      });
      const { nodes, text } = await client.explain(copy);
      expect(nodes.map(({ node }) => node).toSorted()).toEqual([...data].toSorted());
      expect(nodes.map(({ deciders }) => deciders.toSorted().join()).toSorted()).toEqual([
        "enable",
        "enable,same_shard",
      ]);
      expect(text.length).toBeGreaterThan(5);
      await client.putSettings({ transient: { [enable]: null } });
      await scene.until(async () => (await client.health()).status === "green");
    });

    test("repositories are registered, read back, tried out, changed and deregistered; others stay", async () => {
      const location = `${scene.repositoryDirectory}/ours`;
      const theirs = { name: "theirs", type: "fs", settings: { location: scene.repositoryDirectory } };
      const ours = { name: "ours", type: "fs", settings: { location, compress: "true" } };
      expect(await client.repositories()).toEqual([]);
      await client.putRepository(theirs);
      await client.putRepository(ours);
      expect((await client.repositories()).toSorted(byName)).toEqual([ours, theirs]);
      await client.verifyRepository("ours");
      const changed = { ...ours, settings: { location, max_snapshot_bytes_per_sec: "1mb" } };
      await client.putRepository(changed);
      expect((await client.repositories()).find((each) => each.name === "ours")).toEqual(changed);
      await client.deleteRepository("ours");
      await client.deleteRepository("ours");
      expect(await codeOf(client.deleteRepository("*"))).toBe("invalid");
      expect(await codeOf(client.verifyRepository("ours"))).not.toBe("ok");
      expect(await codeOf(client.putRepository({ ...ours, type: "nobody-has-it" }))).toBe("invalid");
      expect(await client.repositories()).toEqual([theirs]);
      await client.deleteRepository("theirs");
    });

    test("vote exclusions take names of no one, and are cleared while nodes live", async () => {
      await client.excludeVotes(["ghost"]);
      expect(await client.coordination()).toMatchObject({ voters: [manager], exclusions: ["ghost"] });
      await client.clearVoteExclusions();
      expect((await client.coordination()).exclusions).toEqual([]);
    });

    test("licenses are no API of OpenSearch", async () => {
      expect(await codeOf(client.license())).toBe("unsupported");
    });

    test("a new certificate is served after a reload, a broken one never", async () => {
      const before = await client.servedCertificate(firstData);
      const files = await nodeFiles(scene.ca, scene.ca.caPem, 60);
      await scene.writeFiles(firstData, files);
      expect((await client.servedCertificate(firstData)).fingerprint).toBe(before.fingerprint);
      await client.reloadCertificates(firstData, "http");
      const after = await client.servedCertificate(firstData);
      expect(after.validity.notAfterMs).toBeGreaterThan(before.validity.notAfterMs);
      // Each layer on its own, and only this node.
      const endMs = await client.transportCertificateEndMs(firstData);
      expect(endMs).toBe(before.validity.notAfterMs);
      await client.reloadCertificates(firstData, "transport");
      expect(await client.transportCertificateEndMs(firstData)).toBe(after.validity.notAfterMs);
      expect(await client.transportCertificateEndMs(secondData)).toBe(endMs);
      await scene.writeFiles(firstData, { ...files, certificatePem: "garbage" });
      expect(await codeOf(client.reloadCertificates(firstData, "http"))).toBe("invalid");
      expect((await client.servedCertificate(firstData)).fingerprint).toBe(after.fingerprint);
      await scene.writeFiles(firstData, files);
    });

    test("a leaf of a new CA with the same subject is trusted by a client that has both, and by no one else", async () => {
      const next = await TestCa.create();
      const both = `${scene.ca.caPem}${next.caPem}`;
      await scene.writeFiles(secondData, await nodeFiles(next, both, 90));
      await client.reloadCertificates(secondData, "http");
      const only = { endpoints: scene.target.endpoints.filter(({ node }) => node === secondData) };
      expect(await withTarget(only, async (other) => await codeOf(other.health()))).toBe("untrusted");
      const trusting = { ...only, ...tlsWith({ caPem: both }) };
      expect(await withTarget(trusting, async (other) => (await other.health()).nodes)).toBe(3);
      const newAdmin = await next.issue({ subject: adminSubject, usages: ["client"] });
      const renewed = { ...only, ...tlsWith({ caPem: both, client: newAdmin }) };
      expect(await withTarget(renewed, async (other) => (await other.health()).nodes)).toBe(3);
      await scene.writeFiles(secondData, await nodeFiles(scene.ca, both));
      await withTarget(trusting, async (other) => {
        await other.reloadCertificates(secondData, "http");
      });
    });

    test("a client certificate of a foreign CA is forbidden", async () => {
      const foreign = await TestCa.create();
      const stranger = await foreign.issue({ subject: adminSubject, usages: ["client"] });
      const only = { endpoints: scene.target.endpoints.filter(({ node }) => node === firstData) };
      const change = { ...only, ...tlsWith({ client: stranger }) };
      expect(await withTarget(change, async (other) => await codeOf(other.health()))).toBe("forbidden");
    });

    test("without its manager a cluster tells nothing; a node that lived through it still knows its cluster", async () => {
      await scene.stop(manager);
      await scene.until(async () => (await codeOf(client.health())) === "unavailable");
      expect(await codeOf(client.identity(manager))).toBe("unreachable");
      expect(await client.identity(firstData)).toMatchObject({ clusterUuid: uuid, hasVoters: true });
    });

    test("a node that restarts without a manager shows neither cluster nor voters, although its disk knows both", async () => {
      await scene.stop(firstData);
      await scene.start(firstData);
      const identity = await scene.until(
        async () => await client.identity(firstData).catch((error: unknown) => unlessEngine(error)),
      );
      expect(identity).toMatchObject({ node: firstData, clusterUuid: undefined, hasVoters: false });
    });

    test("the same cluster comes back with its manager", async () => {
      await scene.start(manager);
      await scene.until(async () => {
        const { nodes, status } = await client.health().catch(noHealth);
        return nodes === allNodes.length && status === "green";
      });
      expect((await client.identity(firstData)).clusterUuid).toBe(uuid);
      expect((await client.coordination()).clusterUuid).toBe(uuid);
    });
  });
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name.localeCompare(other.name);
}

function noHealth(error: unknown): { readonly nodes: number; readonly status: string } {
  unlessEngine(error);
  return { nodes: 0, status: "unknown" };
}

function unlessEngine(error: unknown): undefined {
  if (!(error instanceof EngineError)) throw error;
  return undefined;
}
