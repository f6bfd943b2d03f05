import type { Impersonation } from "../config/cluster-config.ts";
import type { Transport } from "../transport/transport.ts";
import type { Client } from "./client.ts";
import { TransportClient } from "./transport-client.ts";

/** What a client is made of. */
export interface ClientOptions {
  readonly transport: Transport;
  /** Speak as somebody else from the start (default: as the configuration says). */
  readonly identity?: Impersonation;
}

/**
 * A client on top of shared connections.
 *
 * @example
 * const config = await loadConfig({ system });
 * await using transport = createTransport({ config, system });
 * const client = createClient({ transport });
 */
export function createClient({ transport, identity }: ClientOptions): Client {
  return new TransportClient(transport, identity);
}
