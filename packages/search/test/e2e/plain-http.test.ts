import { openSearchCluster } from "@quartermaster/api";
import { pods, secrets } from "@quartermaster/runtime/kinds";
import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { leanJvm } from "./engine-pods.ts";
import { isReady, type RealSearch, startRealSearch } from "./real-search.ts";

const minute = 60_000;
const namespace = "team";
const name = "logs";
const { kind } = openSearchCluster;
const declared = {
  apiVersion: "opensearch.org/v1",
  kind: "OpenSearchCluster",
  metadata: { name, namespace },
  spec: {
    general: {
      serviceName: name,
      version: "2.19.4",
      additionalConfig: { "plugins.security.audit.type": "internal_opensearch" },
    },
    nodePools: [
      { component: "nodes", replicas: 1, diskSize: "1Gi", roles: ["cluster_manager", "data"], jvm: leanJvm },
    ],
    security: { tls: { http: { enabled: false } } },
  },
};

interface AuditRow {
  readonly health: string;
  readonly rep: string;
  readonly "docs.count": string;
}

describe.runIf(hasRealNodes())("an OpenSearchCluster without TLS for clients, on a real node", () => {
  let real: RealSearch;

  beforeAll(async () => {
    real = await startRealSearch({
      kind,
      namespace,
      name,
      nodes: 1,
      isPlain: true,
      engine: "opensearch",
      version: "2.19.4",
    });
  }, 15 * minute);

  afterAll(async () => {
    await real?.[Symbol.asyncDispose]();
  });

  test(
    "[search/SC-24] with TLS for clients off the cluster forms, and only accounts of ours exist",
    async () => {
      await real.apply(declared);
      const { status } = await real.until((each) => isReady(each) && each.status?.health === "green");
      expect(status).toMatchObject({ phase: "RUNNING", version: "2.19.4", availableNodes: 1 });
      expect(status?.access).toEqual({ service: `${name}.${namespace}.svc`, port: 9200 });
      const admin = await real.login(`${name}-admin-password`);
      const users = await real.request("/_plugins/_security/api/internalusers", { login: admin });
      expect(Object.keys(JSON.parse(users.body) as object).toSorted()).toEqual([
        "admin",
        "quartermaster-operator",
      ]);
      expect((await real.request("/", { login: "admin:admin" })).status).toBe(401);
      expect((await real.request("/", { login: "kibanaserver:kibanaserver" })).status).toBe(401);
    },
    8 * minute,
  );

  test(
    "[search/SC-26] the only data node writes its audit log into an index, and the cluster stays green",
    async () => {
      const login = await real.login(`${name}-admin-password`);
      const rows = async (): Promise<readonly AuditRow[]> => {
        // Refused, and so written down.
        await real.request("/", { login: "admin:admin" });
        const path = "/_cat/indices/security-auditlog-*?format=json&h=index,health,rep,docs.count";
        return JSON.parse((await real.request(path, { login })).body) as readonly AuditRow[];
      };
      const [row] = await eventually(async (see) => {
        const found = see(await rows());
        return found.some((each) => Number(each["docs.count"]) > 0) ? found : undefined;
      });
      // The plugin requests one replica, which has no place here.
      expect(row).toMatchObject({ health: "green", rep: "0" });
      const { status } = await real.until((each) => isReady(each));
      expect(status?.health).toBe("green");
    },
    3 * minute,
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
          see((await real.request("/", { login: "admin:another-Long-and-Winding-0road" })).status) === 200,
        { withinMs: 3 * minute, everyMs: 1000 },
      );
      expect((await real.request("/", { login: old })).status).toBe(401);
      const [after] = await Array.fromAsync(real.client.list(pods, { namespace }));
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
    },
    4 * minute,
  );

  test(
    "[search/SC-50] yellow for ever for want of a second node, it restarts once when asked to, and is ready again",
    async () => {
      const settings = { number_of_shards: 1, number_of_replicas: 1 };
      await real.request("/orders", { method: "PUT", body: { settings } });
      await real.request("/orders/_doc/1?refresh=true", { method: "PUT", body: { total: 1 } });
      await real.until((each) => each.status?.health === "yellow");
      const ref = { namespace, name: `${name}-nodes-0` };
      const before = await real.client.get(pods, ref);
      const annotations = { "search.quartermaster.dev/restart": "once" };
      await real.apply({ ...declared, metadata: { ...declared.metadata, annotations } });
      await eventually(
        async () => {
          const pod = await real.client.find(pods, ref);
          return pod !== undefined && pod.metadata.uid !== before.metadata.uid;
        },
        { withinMs: 4 * minute, everyMs: 500 },
      );
      const { uid } = (await real.client.get(pods, ref)).metadata;
      const { status } = await real.until(
        (each) =>
          isReady(each) && each.status?.operation === undefined && each.status?.nodes?.[0]?.podUid === uid,
      );
      expect(status?.health).toBe("yellow");
      expect((await real.request("/orders/_doc/1")).status).toBe(200);
      // Ready, with nothing in progress: the one restart was the only one.
      expect((await real.client.get(pods, ref)).metadata.uid).toBe(uid);
    },
    8 * minute,
  );
});
