import type { ConnectEngine, EngineTarget } from "@quartermaster/search";

import { nodeAddress } from "./engine-process.ts";
import type { TestCa } from "./test-certificates.ts";

/** Files of one node for clients. */
export interface NodeFiles {
  readonly certificatePem: string;
  readonly keyPem: string;
  readonly caPem: string;
}

/**
 * A cluster of one manager and two data nodes, real or fake, that a contract suite can act on: what a test does besides calling the
 * client. Nodes run and security is not initialised when it is handed over.
 */
export interface EngineScene extends AsyncDisposable {
  readonly target: EngineTarget;
  readonly connect: ConnectEngine;
  readonly ca: TestCa;
  /** Its version as nodes must report it. */
  readonly version: string;
  /** A directory that every node opens to snapshots. */
  readonly repositoryDirectory: string;
  createIndex(name: string, shape: { readonly shards: number; readonly replicas: number }): Promise<void>;
  /** Puts other files where the node reads them; it reads them when it is told to, and when it starts. */
  writeFiles(node: string, files: NodeFiles): Promise<void>;
  /** Ends the process; its data stays. */
  stop(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** Looks again and again until there is something; time continues meanwhile. */
  until<T>(probe: () => Promise<T | undefined | false>): Promise<T>;
}

/** Name that clients of every world verify. */
export const serviceName = "search.team-a.svc";

/** Subject of the nodes' certificates. */
export const nodeSubject = { commonName: "node", organizations: ["Test"] };

/** Subject of the administrator's certificate. */
export const adminSubject = { commonName: "admin", organizations: ["Test"] };

/** Names of the nodes. */
export const nodeNames = { manager: "os-m-0", data: ["os-d-0", "os-d-1"] } as const;

/** A certificate for any node, under the service's name and the loopback addresses of this process. */
export async function nodeFiles(ca: TestCa, caPem: string = ca.caPem, days = 30): Promise<NodeFiles> {
  const certificate = await ca.issue(
    {
      subject: nodeSubject,
      usages: ["server", "client"],
      dnsNames: [serviceName],
      ipAddresses: [0, 1, 2].map((node) => nodeAddress(node)),
    },
    days,
  );
  return { ...certificate, caPem };
}
