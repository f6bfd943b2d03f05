import type { Server } from "node:net";

import type { Log } from "../reconcile/log.ts";
import type { System } from "../system/system.ts";

/** Where a server listens. */
export interface ListenAddress {
  /** 0 takes any that is free. */
  readonly port: number;
  /** Default: all addresses, IPv6 included. */
  readonly host?: string | undefined;
  readonly log: Log;
}

/** Begins to accept connections and gives the port. Throws when the port is taken or the address is not ours. */
export async function listen(server: Server, { port, host, log }: ListenAddress): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once("error", reject);
  server.listen({ port, ...(host !== undefined && { host }) }, () => {
    resolve(undefined);
  });
  await promise;
  server.off("error", reject);
  // Without a listener, one connection that cannot be accepted (no file descriptor left) would end the process.
  server.on("error", (error) => {
    log.warn("connection could not be accepted", { err: error });
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server of HTTP or HTTPS, as far as stopping goes. */
export interface DrainedServer extends Server {
  closeIdleConnections(): void;
  closeAllConnections(): void;
}

/** No new connections; responses in progress are finished within the limit, the rest is cut. */
export async function drain(
  server: DrainedServer,
  {
    system,
    limitMs,
    onCut,
  }: { readonly system: System; readonly limitMs: number; readonly onCut?: () => void },
): Promise<void> {
  if (!server.listening) return;
  const { promise: closed, resolve } = Promise.withResolvers<undefined>();
  server.close(() => {
    resolve(undefined);
  });
  server.closeIdleConnections();
  const limit = system.setTimer(limitMs, () => {
    onCut?.();
    server.closeAllConnections();
  });
  await closed;
  limit.cancel();
}
