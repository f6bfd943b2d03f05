import { request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";

/** A Service that serves HTTP. */
export interface ServiceDoor {
  /** Opens a connection to it. */
  readonly dial: () => Promise<Socket>;
  /** Verified against this authority under this name (default: no TLS). */
  readonly tls?: { readonly ca: string; readonly servername: string };
}

/** Asks a Service in the cluster; rejects where its certificate is not the right one. */
export async function askService(
  { dial, tls }: ServiceDoor,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const socket = await dial();
  const createConnection = (): Socket => (tls === undefined ? socket : connect({ socket, ...tls }));
  const asked = request({ createConnection, path, headers: { connection: "close" }, timeout: 10_000 });
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  asked.once("timeout", () => asked.destroy(new Error("no answer within 10 s")));
  asked.once("error", reject);
  asked.once("response", (answer) => {
    text(answer).then((body) => {
      resolve({ status: answer.statusCode ?? 0, body });
    }, reject);
  });
  asked.end();
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
