import { realSystem } from "@quartermaster/runtime";
import { distinguishedName } from "@quartermaster/runtime/certificates";
import { type EngineTarget, restEngine } from "@quartermaster/search";
import { Agent, fetch } from "undici";

import { EngineHome, EngineProcess, nodeAddress, untilSeen } from "./engine-process.ts";
import {
  adminSubject,
  type EngineScene,
  type NodeFiles,
  nodeFiles,
  nodeNames,
  nodeSubject,
  serviceName,
} from "./engine-scene.ts";
import { TestCa } from "./test-certificates.ts";

const version = "2.19.4";
const httpPort = 9200;

/** The world with real processes: OpenSearch with its security plugin, one manager and two data nodes. */
export async function startOpensearchScene(): Promise<EngineScene> {
  await using stack = new AsyncDisposableStack();
  const ca = await TestCa.create();
  const admin = await ca.issue({ subject: adminSubject, usages: ["client"] });
  const files = await nodeFiles(ca);
  const home = await EngineHome.create("opensearch", version);
  stack.use(home);
  const repositoryDirectory = await home.openDirectory("snapshots");
  const names = [nodeNames.manager, ...nodeNames.data];
  const nodes = new Map<string, EngineProcess>();
  for (const [at, name] of names.entries()) {
    const node = new EngineProcess(home, name);
    stack.use(node);
    await node.prepare(settingsOf(name, at, repositoryDirectory), filesOf(files));
    nodes.set(name, node);
    node.start();
  }
  const target: EngineTarget = {
    distribution: "opensearch",
    endpoints: names.map((node, at) => ({ node, host: nodeAddress(at), port: httpPort })),
    tls: { caPem: ca.caPem, serverName: serviceName, client: admin },
    login: undefined,
  };
  const kept = stack.move();
  return {
    ca,
    version,
    repositoryDirectory,
    target,
    connect: restEngine({ system: realSystem() }),
    createIndex: async (name, { shards, replicas }) => {
      const settings = { number_of_shards: shards, number_of_replicas: replicas };
      await put(target, `/${name}`, { settings });
    },
    writeFiles: async (node, written) => {
      await nodes.get(node)?.write(filesOf(written));
    },
    stop: async (node) => {
      await nodes.get(node)?.stop();
    },
    start: async (node) => {
      nodes.get(node)?.start();
      await Promise.resolve();
    },
    until: async (probe) => await untilSeen(probe, [...nodes.values()]),
    [Symbol.asyncDispose]: async () => {
      await kept.disposeAsync();
    },
  };
}

function settingsOf(
  name: string,
  at: number,
  repositoryDirectory: string,
): Readonly<Record<string, unknown>> {
  const ssl = ["transport", "http"].flatMap((layer): readonly (readonly [string, unknown])[] => [
    [`plugins.security.ssl.${layer}.pemcert_filepath`, "tls.crt"],
    [`plugins.security.ssl.${layer}.pemkey_filepath`, "tls.key"],
    [`plugins.security.ssl.${layer}.pemtrustedcas_filepath`, "ca.crt"],
    [`plugins.security.ssl.${layer}.enforce_cert_reload_dn_verification`, false],
  ]);
  const entries = Object.fromEntries<unknown>(ssl);
  return {
    "cluster.name": "contract",
    "node.name": name,
    "node.roles": name === nodeNames.manager ? ["cluster_manager"] : ["data"],
    "network.host": nodeAddress(at),
    "http.port": httpPort,
    "transport.port": 9300,
    "discovery.seed_hosts": [`${nodeAddress(0)}:9300`],
    ...(name === nodeNames.manager ? { "cluster.initial_cluster_manager_nodes": [nodeNames.manager] } : {}),
    "path.repo": [repositoryDirectory],
    // A node without a manager answers no one before this is over (default: 30 s).
    "discovery.initial_state_timeout": "1s",
    "cluster.routing.allocation.disk.threshold_enabled": false,
    "node.store.allow_mmap": false,
    ...entries,
    "plugins.security.ssl.http.enabled": true,
    "plugins.security.ssl_cert_reload_enabled": true,
    "plugins.security.nodes_dn": [distinguishedName(nodeSubject)],
    "plugins.security.authcz.admin_dn": [distinguishedName(adminSubject)],
  };
}

function filesOf({ certificatePem, keyPem, caPem }: NodeFiles): Readonly<Record<string, string>> {
  return { "tls.crt": certificatePem, "tls.key": keyPem, "ca.crt": caPem };
}

/** What the client under test has no call for. */
async function put({ tls, endpoints }: EngineTarget, path: string, body: object): Promise<void> {
  const [endpoint] = endpoints;
  if (tls?.client === undefined || endpoint === undefined) throw new Error("the world has TLS and nodes");
  const { certificatePem: cert, keyPem: key } = tls.client;
  const agent = new Agent({ connect: { ca: tls.caPem, servername: serviceName, cert, key } });
  const response = await fetch(`https://${endpoint.host}:${endpoint.port}${path}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    dispatcher: agent,
  });
  await agent.close();
  if (!response.ok) throw new Error(`PUT ${path}: ${response.status}`);
}
