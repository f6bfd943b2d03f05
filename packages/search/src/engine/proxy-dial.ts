import { request, type RequestOptions } from "node:http";
import type { Socket } from "node:net";

import type { EngineDial } from "./open-connection.ts";

/** Where a proxy listens: a socket in the file system, or a host and a port. */
export type ProxyAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/**
 * Reaches pods through a proxy that serves HTTP's CONNECT, for operators outside the cluster's network. It passes bytes on and is not
 * trusted: TLS goes through it, to the engine.
 */
export function proxyDial(location: ProxyAddress): EngineDial {
  return async ({ host, port }, signal) => {
    const target = `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
    return await tunnel({ ...location, method: "CONNECT", path: target, agent: false, signal }, target);
  };
}

async function tunnel(options: RequestOptions, target: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const refuse = (status: number | undefined): void => {
    const message = `the proxy responds ${String(status ?? "nothing")} for ${target}`;
    reject(Object.assign(new Error(message), { code: "ECONNREFUSED" }));
  };
  const requested = request(options);
  requested.once("error", reject);
  // A proxy that does not know CONNECT responds as to any other request.
  requested.once("response", (response) => {
    response.destroy();
    refuse(response.statusCode);
  });
  requested.once("connect", (response, socket: Socket, head: Buffer) => {
    if (response.statusCode !== 200) {
      socket.destroy();
      refuse(response.statusCode);
      return;
    }
    socket.setNoDelay(true);
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  requested.end();
  return await promise;
}
