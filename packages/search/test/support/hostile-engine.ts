import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";

import type { CertifiedKey } from "@quartermaster/runtime/certificates";
import type { EngineTarget } from "@quartermaster/search";

import { serviceName } from "./engine-scene.ts";
import { TestCa } from "./test-certificates.ts";

export type Reply = (request: IncomingMessage, response: ServerResponse) => void;

/** A server with TLS on a free port that answers as a test says: an engine at its worst. */
export interface HostileEngine extends AsyncDisposable {
  readonly target: EngineTarget;
  /** Paths that were requested of it, in order. */
  readonly requested: readonly string[];
  response: Reply;
  /** Serves another certificate to connections from then on; those that are open stay. */
  serve(certificate: CertifiedKey): void;
}

/** Starts one. `dnsNames` are those of its certificate. */
export async function startHostileEngine({
  node = "os-a-0",
  dnsNames = [serviceName],
  ca,
  login,
}: {
  readonly node?: string;
  readonly dnsNames?: readonly string[];
  readonly ca?: TestCa;
  readonly login?: EngineTarget["login"];
} = {}): Promise<HostileEngine> {
  const signer = ca ?? (await TestCa.create());
  const certificate = await signer.issue({ subject: { commonName: node }, usages: ["server"], dnsNames });
  const requested: string[] = [];
  const server = createServer(
    { cert: certificate.certificatePem, key: certificate.keyPem },
    (request, response) => {
      requested.push(`${request.method ?? ""} ${request.url ?? ""}`);
      engine.response(request, response);
    },
  );
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.listen(0, "127.0.0.1", () => {
    resolve(undefined);
  });
  await promise;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const engine: HostileEngine = {
    requested,
    target: {
      distribution: "opensearch",
      endpoints: [{ node, host: "127.0.0.1", port }],
      tls: { caPem: signer.caPem, serverName: serviceName, client: undefined },
      login,
    },
    response: (_request, response) => {
      response.writeHead(500).end();
    },
    serve: ({ certificatePem, keyPem }) => {
      server.setSecureContext({ cert: certificatePem, key: keyPem });
    },
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<undefined>();
      server.close(() => {
        closed.resolve(undefined);
      });
      server.closeAllConnections();
      await closed.promise;
    },
  };
  return engine;
}

/** Answers with JSON. */
export function json(value: unknown, status = 200): Reply {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
}

/** A healthy cluster's `_cluster/health`. */
export const greenHealth = {
  status: "green",
  number_of_nodes: 3,
  number_of_data_nodes: 2,
  active_shards: 4,
  relocating_shards: 0,
  initializing_shards: 0,
  unassigned_shards: 0,
  number_of_pending_tasks: 0,
};
