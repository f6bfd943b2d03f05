import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import {
  type ClusterConfig,
  type Credential,
  fixedSource,
  type Source,
} from "../../src/config/cluster-config.ts";
import { realSystem } from "../../src/system/real-system.ts";
import type { System } from "../../src/system/system.ts";
import { createTransport, type Observation, type Transport } from "../../src/transport/transport.ts";

/** How to reach something that speaks like an API server. */
export interface Access {
  readonly server: string;
  readonly caPem?: string;
  readonly token?: string;
  /** Any certificate will do (default: false). */
  readonly insecure?: boolean;
  readonly credentials?: Source<Credential>;
  readonly observe?: (observation: Observation) => void;
  /** Default: the real one. */
  readonly system?: System;
}

/** A client with its connections; `await using` ends them. */
export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly transport: Transport;
}

/** Connects with plain values, without a kubeconfig. */
export function connect(access: Access): Connected {
  const config = configOf(access);
  const { observe, system = realSystem() } = access;
  const transport = createTransport({ config, system, ...(observe && { observe }) });
  return {
    client: createClient({ transport }),
    transport,
    [Symbol.asyncDispose]: async () => {
      await transport[Symbol.asyncDispose]();
    },
  };
}

/** The configuration that such values stand for. */
function configOf({ server, caPem, token, credentials, insecure = false }: Access): ClusterConfig {
  return {
    server,
    tls: { cas: fixedSource(caPem), insecure },
    credentials: credentials ?? fixedSource(token === undefined ? {} : { token }),
    namespace: "default",
    contextName: "test",
  };
}
