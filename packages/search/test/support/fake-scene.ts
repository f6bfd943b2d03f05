import { VirtualSystem } from "@quartermaster/runtime/testing";
import type { Distribution } from "@quartermaster/search";
import { FakeEngine, type FakePod } from "@quartermaster/search/testing";

import { adminSubject, type EngineScene, nodeFiles, nodeNames, serviceName } from "./engine-scene.ts";
import { TestCa } from "./test-certificates.ts";

const longestWaitMs = 300_000;
const stepMs = 500;

/** The world with the fake engine: time passes only while a test waits. */
export async function startFakeScene(distribution: Distribution = "opensearch"): Promise<EngineScene> {
  const system = new VirtualSystem({ startMs: Date.now() });
  const ca = await TestCa.create();
  const admin = await ca.issue({ subject: adminSubject, usages: ["client"] });
  const files = await nodeFiles(ca);
  const names: readonly string[] =
    distribution === "opensearch" ? [nodeNames.manager, ...nodeNames.data] : [nodeNames.manager];
  const login = distribution === "elasticsearch" ? { username: "operator", password: "right" } : undefined;
  const pods = new Map<string, FakePod>();
  for (const name of names) {
    pods.set(name, {
      name,
      uid: system.uuid(),
      volume: system.uuid(),
      isRunning: true,
      roles: name === nodeNames.manager ? ["cluster_manager"] : ["data"],
      version: "2.19.4",
      clusterName: "contract",
      initialManagers: [nodeNames.manager],
      files,
      ...(login === undefined ? {} : { accounts: { [login.username]: login.password } }),
    });
  }
  const change = (name: string, edit: Partial<FakePod>): void => {
    const pod = pods.get(name);
    if (pod !== undefined) pods.set(name, { ...pod, ...edit });
  };
  const engine = new FakeEngine({ system, distribution, pods: () => [...pods.values()] });
  return {
    ca,
    version: "2.19.4",
    repositoryDirectory: "/snapshots",
    connect: engine.connect,
    target: {
      distribution,
      endpoints: names.map((node) => ({ node, host: "127.0.0.1", port: 9200 })),
      tls: {
        caPem: ca.caPem,
        serverName: serviceName,
        client: distribution === "opensearch" ? admin : undefined,
      },
      login,
    },
    createIndex: async (name, shape) => {
      engine.createIndex(nodeNames.manager, { name, documents: 0, ...shape });
      await system.settle();
    },
    writeFiles: async (node, written) => {
      change(node, { files: written });
      await system.settle();
    },
    stop: async (node) => {
      change(node, { isRunning: false });
      await system.settle();
    },
    start: async (node) => {
      change(node, { isRunning: true, uid: system.uuid() });
      await system.settle();
    },
    until: async (probe) => {
      for (let waitedMs = 0; waitedMs < longestWaitMs; waitedMs += stepMs) {
        const seen = await probe();
        if (seen !== undefined && seen !== false) return seen;
        await system.advance(stepMs);
      }
      throw new Error("not within five minutes of virtual time");
    },
    [Symbol.asyncDispose]: async () => {
      await system.settle();
    },
  };
}
