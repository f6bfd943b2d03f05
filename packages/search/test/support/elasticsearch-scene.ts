import { pbkdf2Sync, randomBytes } from "node:crypto";

import { realSystem } from "@quartermaster/runtime";
import { type ConnectEngine, type EngineTarget, restEngine } from "@quartermaster/search";

import { EngineHome, EngineProcess, nodeAddress, untilSeen } from "./engine-process.ts";
import { nodeFiles, serviceName } from "./engine-scene.ts";
import { TestCa } from "./test-certificates.ts";

/** An Elasticsearch of one node, real or fake. */
export interface LicenseState extends AsyncDisposable {
  readonly target: EngineTarget;
  readonly connect: ConnectEngine;
  until<T>(probe: () => Promise<T | undefined | false>): Promise<T>;
}

const login = { username: "operator", password: "Correct-Horse-9!" };

/** Elasticsearch 7.17.28 with TLS and our account in its file realm. */
export async function startElasticsearchScene(): Promise<LicenseState> {
  await using stack = new AsyncDisposableStack();
  const ca = await TestCa.create();
  const files = await nodeFiles(ca);
  const home = await EngineHome.create("elasticsearch", "7.17.28");
  stack.use(home);
  const node = new EngineProcess(home, "es-m-0");
  stack.use(node);
  await node.prepare(settings(), {
    "tls.crt": files.certificatePem,
    "tls.key": files.keyPem,
    "ca.crt": files.caPem,
    users: `${login.username}:${hashed(login.password)}\n`,
    users_roles: `superuser:${login.username}\n`,
  });
  node.start();
  const kept = stack.move();
  return {
    target: {
      distribution: "elasticsearch",
      endpoints: [{ node: node.name, host: nodeAddress(0), port: 9200 }],
      tls: { caPem: ca.caPem, serverName: serviceName, client: undefined },
      login,
    },
    connect: restEngine({ system: realSystem() }),
    until: async (probe) => await untilSeen(probe, [node]),
    [Symbol.asyncDispose]: async () => {
      await kept.disposeAsync();
    },
  };
}

/** The file realm takes other hashes than bcrypt, and this one needs no library. */
function hashed(password: string): string {
  const salt = randomBytes(32);
  const key = pbkdf2Sync(password, salt, 10_000, 32, "sha512");
  return `{PBKDF2}10000$${salt.toString("base64")}$${key.toString("base64")}`;
}

function settings(): Readonly<Record<string, unknown>> {
  const ssl = ["http", "transport"].flatMap((layer): readonly (readonly [string, unknown])[] => [
    [`xpack.security.${layer}.ssl.enabled`, true],
    [`xpack.security.${layer}.ssl.key`, "tls.key"],
    [`xpack.security.${layer}.ssl.certificate`, "tls.crt"],
    [`xpack.security.${layer}.ssl.certificate_authorities`, ["ca.crt"]],
  ]);
  const entries = Object.fromEntries<unknown>(ssl);
  return {
    "cluster.name": "contract",
    "node.name": "es-m-0",
    "network.host": nodeAddress(0),
    "http.port": 9200,
    "transport.port": 9300,
    "discovery.seed_hosts": [],
    "cluster.initial_master_nodes": ["es-m-0"],
    "node.store.allow_mmap": false,
    "cluster.routing.allocation.disk.threshold_enabled": false,
    "xpack.security.enabled": true,
    "xpack.security.authc.realms.file.files.order": 0,
    ...entries,
  };
}
