import { readFileSync } from "node:fs";

import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { clusterNames, nodeSubject } from "../../src/model/cluster-names.ts";
import { podNames } from "../../src/model/search-cluster.ts";
import { mmapDisabled } from "../../src/workload/prepare.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { certificateSecret, type EnginePods, leanJvm, startEnginePods } from "./engine-pods.ts";

/** Only in a campaign: what these pods show without an operator, `search-cluster.test.ts` shows with one. */
const isCampaign = process.env["QM_CAMPAIGN"] === "1";
const [managers, dataNodes] = [3, 3];
const search = aSearchCluster({
  // Part of the image already: it is not installed again, and the pods run from a copy of the plugins.
  plugins: ["opensearch-security"],
  pools: [
    aPool({ name: "managers", replicas: managers, roles: ["cluster_manager"], jvm: leanJvm }),
    aPool({ name: "data", replicas: dataNodes, roles: ["data", "ingest"], jvm: leanJvm }),
  ],
});
const pods = search.pools.flatMap((pool) => podNames(search, pool));
const each = (value: string): string => pods.map(() => value).join(" ");
const minute = 60_000;

const healthSchema = z.object({
  status: z.string(),
  number_of_nodes: z.number(),
  number_of_data_nodes: z.number(),
});
/** What the security plugin needs to begin; users come later, one by one. */
const securityTypes = ["config", "roles", "rolesmapping", "internalusers", "actiongroups", "tenants"];
const authentication = {
  dynamic: {
    authc: {
      basic: {
        http_enabled: true,
        order: 0,
        http_authenticator: { type: "basic", challenge: true },
        authentication_backend: { type: "intern" },
      },
    },
  },
};

function securityBulk(): string {
  const lines = securityTypes.flatMap((type) => {
    const content = {
      ...(type === "config" ? { config: authentication } : {}),
      _meta: { type, config_version: 2 },
    };
    return [{ create: { _id: type } }, { [type]: Buffer.from(JSON.stringify(content)).toString("base64") }];
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

describe.runIf(isCampaign && hasRealNodes())("[as pods] OpenSearch: managers and data nodes", () => {
  let made: EnginePods;
  let manager: string;

  beforeAll(async () => {
    made = await startEnginePods(search);
    manager = await made.podIp("logs-managers-0");
    await Promise.all(pods.map(async (pod) => await made.untilStarted(pod)));
  }, 15 * minute);

  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  test("form one cluster, in a namespace that enforces the restricted profile, and answer over TLS", async () => {
    const health = await eventually(
      async (see) => {
        const { status, body } = see(await made.request(manager, "/_cluster/health"));
        const found = status === 200 ? healthSchema.parse(JSON.parse(body)) : undefined;
        return found?.number_of_nodes === pods.length ? found : undefined;
      },
      { withinMs: 4 * minute, everyMs: 500 },
    );
    expect(health.number_of_data_nodes).toBe(dataNodes);
    const running = await made.kubectl(
      "get",
      "pods",
      "-o",
      "jsonpath={.items[*].status.containerStatuses[0].restartCount}",
    );
    expect(running).toBe(each("0"));
  });

  test("have a root that cannot be written, and no token", async () => {
    const inside = async (script: string): Promise<number> =>
      (
        await made.cluster.kubectl([
          "-n",
          "team",
          "exec",
          "logs-data-0",
          "-c",
          "opensearch",
          "--",
          "bash",
          "-c",
          script,
        ])
      ).code;
    expect(await inside("true")).toBe(0);
    for (const directory of [
      "/",
      "/usr/share/opensearch",
      "/usr/share/opensearch/bin",
      "/usr/share/opensearch/plugins",
    ])
      expect(await inside(`touch ${directory}/x 2>/dev/null`), directory).not.toBe(0);
    expect(await inside("[ -e /var/run/secrets/kubernetes.io ]")).not.toBe(0);
  });

  test("say so where the machine allows too little mmap", async () => {
    const path = "jsonpath={.status.initContainerStatuses[0].state.terminated.message}";
    const output = await made.kubectl("get", "pod", "logs-data-0", "-o", path);
    const isLow = Number(readFileSync("/proc/sys/vm/max_map_count", "utf8")) < 262_144;
    expect(output.startsWith(mmapDisabled)).toBe(isLow);
  });

  test("are ready once security is initialised, and not before", async () => {
    const ready = async (): Promise<string> =>
      await made.kubectl("get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[0].ready}");
    expect(await ready()).toBe(each("false"));
    const settings = { "index.number_of_shards": 1, "index.auto_expand_replicas": "0-1" };
    expect(
      (await made.request(manager, "/.opendistro_security", { method: "PUT", body: { settings } })).status,
    ).toBe(200);
    const bulk = await made.request(manager, "/.opendistro_security/_bulk?refresh=true", {
      method: "POST",
      body: securityBulk(),
    });
    expect(JSON.parse(bulk.body)).toMatchObject({ errors: false });
    await made.kubectl("wait", "--for=condition=Ready", "--timeout=240s", ...pods.map((pod) => `pod/${pod}`));
  });

  test("serve a user through the Service, with the documents of both data nodes", async () => {
    const api = "/_plugins/_security/api";
    const put = async (path: string, body: object): Promise<number> =>
      (await made.request(manager, `${api}/${path}`, { method: "PUT", body })).status;
    expect(await put("internalusers/reader", { password: "a-Long-and-Winding-0road" })).toBe(201);
    expect(await put("rolesmapping/all_access", { users: ["reader"] })).toBe(201);
    const login = "reader:a-Long-and-Winding-0road";
    const service = await made.kubectl("get", "service", "logs", "-o", "jsonpath={.spec.clusterIP}");
    const index = { settings: { number_of_shards: 2, number_of_replicas: 1 } };
    expect((await made.request(service, "/books", { method: "PUT", body: index, login })).status).toBe(200);
    const document = await made.request(service, "/books/_doc/1?refresh=true", {
      method: "PUT",
      body: { title: "Emma" },
      login,
    });
    expect(document.status).toBe(201);
    await eventually(async (see) =>
      see((await made.request(service, "/_cluster/health", { login })).body).includes('"green"'),
    );
    expect((await made.request(service, "/books/_search?q=title:emma", { login })).body).toContain('"Emma"');
    expect((await made.request(service, "/books/_search", { login: "reader:wrong" })).status).toBe(401);
  });

  test("serve a renewed certificate after kubelet's swap and a reload, without a restart", async () => {
    const { httpCertificate } = clusterNames(search);
    const before = await made.served(manager);
    const certificate = await made.issue(nodeSubject(search));
    await made.apply(
      certificateSecret(search, httpCertificate, { certificate, trust: made.ca.certificatePem }),
    );
    // A change of the pod makes kubelet sync its volumes immediately; without one it does so within 90 s.
    await made.kubectl("annotate", "pod", ...pods, "example.com/looked-at=1");
    for (const pod of pods) {
      const host = await made.podIp(pod);
      await eventually(
        async (see) => {
          see(await made.request(host, "/_plugins/_security/api/ssl/http/reloadcerts", { method: "PUT" }));
          return (await made.served(host)).serialNumber !== before.serialNumber;
        },
        { withinMs: 3 * minute, everyMs: 1000 },
      );
    }
    const restarts = await made.kubectl(
      "get",
      "pods",
      "-o",
      "jsonpath={.items[*].status.containerStatuses[0].restartCount}",
    );
    expect(restarts).toBe(each("0"));
  });
});
