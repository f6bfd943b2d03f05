import { pbkdf2Sync, randomBytes } from "node:crypto";

import { eventually, hasRealNodes } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { clusterNames } from "../../src/model/cluster-names.ts";
import { anElasticsearch, aPool } from "../a-search-cluster.ts";
import { type EnginePods, leanJvm, startEnginePods } from "./engine-pods.ts";

const minute = 60_000;
/** Only in a campaign: `elasticsearch-cluster.test.ts` runs 7.17; the launcher, readiness and security of 8 begin differently. */
const isCampaign = process.env["QM_CAMPAIGN"] === "1";
const search = anElasticsearch("8.19.0", {
  pools: [aPool({ jvm: leanJvm })],
  keystore: [{ secretName: "first", keys: { password: "bootstrap.password" } }],
});
const keystoreSecret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "first", namespace: search.namespace },
  stringData: { password: "from-the-keystore", other: "not asked for" },
};
const licenseSchema = z.object({ license: z.object({ status: z.string(), type: z.string() }) });

/** A password as Elasticsearch's file realm keeps it, without bcrypt. */
function hashOf(password: string): string {
  const salt = randomBytes(32);
  const key = pbkdf2Sync(password, salt, 10_000, 32, "sha512");
  return `{PBKDF2}10000$${salt.toString("base64")}$${key.toString("base64")}`;
}

function usersSecret(users: Readonly<Record<string, string>>): object {
  const names = Object.keys(users);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: clusterNames(search).fileRealm, namespace: search.namespace },
    stringData: {
      users: names.map((name) => `${name}:${hashOf(users[name] ?? "")}\n`).join(""),
      users_roles: `superuser:${names.join(",")}\n`,
    },
  };
}

describe.runIf(isCampaign && hasRealNodes())("[as a pod] Elasticsearch", () => {
  let made: EnginePods;
  let node: string;

  beforeAll(async () => {
    const objects = [usersSecret({ operator: "first-password" }), keystoreSecret];
    made = await startEnginePods(search, { nodes: 1, objects });
    node = await made.podIp("logs-nodes-0");
    await Promise.all(["logs-nodes-0"].map(async (pod) => await made.untilStarted(pod)));
  }, 15 * minute);

  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  test("forms a cluster and tells its license to a user of the file realm", async () => {
    const login = "operator:first-password";
    const health = await eventually(
      async (see) => {
        const { status, body } = see(await made.request(node, "/_cluster/health", { login }));
        return status === 200 && body.includes('"number_of_nodes":1') ? body : undefined;
      },
      { withinMs: 4 * minute, everyMs: 500 },
    );
    expect(health).toContain('"logs"');
    const { body } = await made.request(node, "/_license", { login });
    expect(licenseSchema.parse(JSON.parse(body)).license).toEqual({ status: "active", type: "basic" });
    expect((await made.request(node, "/_license", { login: "operator:wrong" })).status).toBe(401);
    await made.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/logs-nodes-0");
  });

  test("takes a password from the keystore that was filled from a Secret", async () => {
    expect(
      (await made.request(node, "/_cluster/health", { login: "elastic:from-the-keystore" })).status,
    ).toBe(200);
  });

  test("lets a user in whose password was changed in the Secret, without a restart", async () => {
    await made.apply(usersSecret({ operator: "second-password" }));
    await made.kubectl("annotate", "pod", "logs-nodes-0", "example.com/looked-at=1");
    await eventually(
      async (see) =>
        see((await made.request(node, "/_license", { login: "operator:second-password" })).status) === 200,
      { withinMs: 3 * minute, everyMs: 1000 },
    );
    expect((await made.request(node, "/_license", { login: "operator:first-password" })).status).toBe(401);
    const restarts = await made.kubectl(
      "get",
      "pods",
      "-o",
      "jsonpath={.items[*].status.containerStatuses[0].restartCount}",
    );
    expect(restarts).toBe("0");
  });
});
