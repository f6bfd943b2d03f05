import { request, type RequestOptions } from "node:http";
import type { Socket } from "node:net";

import type { EngineDial } from "./open-connection.ts";

/** Where a proxy listens: a socket in the file system, or a host and a port. */
export type ProxyPlace = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/**
 * Reaches pods through a proxy that answers HTTP's CONNECT, for operators outside the cluster's network. It passes bytes on and is not
 * trusted: TLS goes through it, to the engine.
 */
export function proxyDial(place: ProxyPlace): EngineDial {
  return async ({ host, port }, signal) => {
    const target = `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
    return await tunnel({ ...place, method: "CONNECT", path: target, agent: false, signal }, target);
  };
}

async function tunnel(options: RequestOptions, target: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const refuse = (status: number | undefined): void => {
    const message = `the proxy answers ${String(status ?? "nothing")} for ${target}`;
    reject(Object.assign(new Error(message), { code: "ECONNREFUSED" }));
  };
  const asked = request(options);
  asked.once("error", reject);
  // A proxy that does not know CONNECT answers as to any other request.
  asked.once("response", (answer) => {
    answer.destroy();
    refuse(answer.statusCode);
  });
  asked.once("connect", (answer, socket: Socket, head: Buffer) => {
    if (answer.statusCode !== 200) {
      socket.destroy();
      refuse(answer.statusCode);
      return;
    }
    socket.setNoDelay(true);
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  asked.end();
  return await promise;
}
