import { readFileSync } from "node:fs";
import { join } from "node:path";

import { joinSharedCluster, makeNamespace, type TestNamespace } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { writeStatus } from "../support/cluster.ts";
import { type, type Output } from "../support/user.ts";

const cluster = joinSharedCluster();
let namespace: TestNamespace;
let path = "";

const documents = parseAllDocuments(
  readFileSync(join(import.meta.dirname, "../../../../config/samples/opensearch.yaml"), "utf8"),
).map((document) => document.toJS() as { readonly kind: string });
const sample = documents.find(({ kind }) => kind === "OpenSearchCluster");

function declared(changes: object = {}): object {
  return { ...sample, metadata: { name: "logs", namespace: namespace.name }, ...changes };
}

beforeAll(async () => {
  namespace = await makeNamespace(cluster.api, "cli-search");
  path = `/apis/opensearch.org/v1/namespaces/${namespace.name}/opensearchclusters/logs`;
  await cluster.api.apply(path, declared());
});

afterAll(async () => {
  await namespace[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});

async function qm(args: readonly string[], input = ""): Promise<Output> {
  return await type([...args, "-n", namespace.name], { env: { KUBECONFIG: cluster.kubeconfigPath }, input });
}

const condition = (status: string, reason: string): object => ({
  type: "Ready",
  status,
  reason,
  message: "As it is.",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
});

const status = {
  observedGeneration: 1,
  conditions: [condition("False", "MemberMissing")],
  clusterUuid: "uuid-of-logs",
  version: "2.19.4",
  health: "yellow",
  availableNodes: 2,
  capacity: { desiredNodes: 3 },
  access: { service: `logs.team.svc`, port: 9200, caSecret: "logs-http-cert" },
  certificates: { httpNotAfter: "2027-01-01T00:00:00Z", transportNotAfter: "2027-02-01T00:00:00Z" },
  nodePools: [{ component: "nodes", desired: 3, target: 3, ready: 2, current: 3, outdated: 0 }],
  nodes: [
    {
      name: "logs-nodes-0",
      roles: ["cluster_manager", "data"],
      version: "2.19.4",
      member: true,
      voter: true,
      elected: true,
    },
    { name: "logs-nodes-1", roles: ["data"], member: false, voter: false },
  ],
  blockers: [
    {
      lane: "nodes",
      rule: "memberMissing",
      reason: "MemberMissing",
      message: "logs-nodes-1 is not ready.",
      actor: "kubelet",
    },
  ],
};

describe("qm search", () => {
  test("a cluster that no one has looked at", async () => {
    const { code, out } = await qm(["search", "explain", "logs"]);
    expect(out).toContain("has not been looked at yet");
    expect(code).toBe(3);
  });

  test("status shows nodes, voters, pools, certificates and what is waited for", async () => {
    await writeStatus(cluster, path, status);
    const { code, out } = await qm(["search", "status", "logs"]);
    expect(code).toBe(3);
    for (const args of [
      /^OpenSearchCluster \S+\/logs {2}not ready: MemberMissing {2}health yellow {2}2 of 3 nodes {2}2\.19\.4$/m,
      /uuid uuid-of-logs/,
      /reached at logs\.team\.svc:9200, trusted by ca\.crt of Secret logs-http-cert/,
      /certificates for clients until 2027-01-01T00:00:00Z, between nodes until 2027-02-01T00:00:00Z/,
      /nodes +3 +3 +2 +3 +0/,
      /logs-nodes-0 +2\.19\.4 +yes +elected +current +cluster_manager,data/,
      /logs-nodes-1 +- +no +no +current +data/,
      /nodes: MemberMissing: logs-nodes-1 is not ready\. Acts next: kubelet\./,
    ])
      expect(out).toMatch(args);
  });

  test("status of the namespace has a line for each; programs get JSON", async () => {
    const { out } = await qm(["search", "status"]);
    expect(out.split("\n")).toHaveLength(1);
    const { out: json } = await qm(["search", "status", "logs", "-o", "json"]);
    expect(JSON.parse(json)).toMatchObject({ name: "logs", health: "yellow", nodes: { length: 2 } });
  });

  test("status --watch ends when the cluster is ready and of the health that was requested", async () => {
    let observations = 0;
    const { code, out } = await type(
      ["search", "status", "logs", "-n", namespace.name, "--watch", "--health", "green"],
      {
        env: { KUBECONFIG: cluster.kubeconfigPath },
        onSleep: async () => {
          observations += 1;
          const health = observations > 1 ? "green" : "yellow";
          await writeStatus(cluster, path, { ...status, health, conditions: [condition("True", "Settled")] });
        },
      },
    );
    expect({ code, observations }).toEqual({ code: 0, observations: 2 });
    expect(out).toMatch(/not ready[^]*Ready {2}health yellow[^]*Ready {2}health green[^]*\npools\n/);
  });

  test("restart writes the annotation that the operator acts on once, for all pools or for one; an unknown pool is refused", async () => {
    const all = await qm(["search", "restart", "logs"]);
    expect(all).toMatchObject({ code: 0 });
    expect(all.out).toMatch(/all nodes restart, one at a time/);
    expect((await qm(["search", "restart", "logs", "--pool", "nodes"])).code).toBe(0);
    const { body: found } = await cluster.api.send({ method: "GET", path });
    expect(found).toMatch(/"search\.quartermaster\.dev\/restart": ?"\d{4}-/);
    expect(found).toMatch(/"search\.quartermaster\.dev\/restart\.nodes": ?"\d{4}-/);
    const wrong = await qm(["search", "restart", "logs", "--pool", "data"]);
    expect(wrong).toMatchObject({ code: 2 });
  });

  test("plan: what the server has stored and the file that it came from are the same", async () => {
    const same = await qm(["search", "plan", "-f", "-"], JSON.stringify(declared()));
    expect(same.out).toContain("no node is added");
    expect(same.code).toBe(0);
    const text = JSON.stringify(declared()).replace('"replicas":3', '"replicas":5');
    const grown = await qm(["search", "plan", "-f", "-"], text);
    expect(grown.out).toContain("pool nodes grows from 3 to 5 nodes: logs-nodes-3, logs-nodes-4");
  });

  test("a cluster that there is not", async () => {
    const { code, err } = await qm(["search", "status", "none"]);
    expect(err).toContain("no search cluster none");
    expect(code).toBe(4);
  });
});
