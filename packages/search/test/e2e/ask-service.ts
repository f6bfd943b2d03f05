import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";

/** A Service that serves HTTP. */
export interface ServiceDoor {
  /** Opens a connection to it. */
  readonly dial: () => Promise<Socket>;
  /** Verified against this CA under this name (default: no TLS). */
  readonly tls?: { readonly ca: string; readonly servername: string };
}

/** A pod that no longer exists answers nothing: without an end to its timeout a caller would wait for minutes. */
async function dialled(dial: ServiceDoor["dial"]): Promise<Socket> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error("no connection within 5 s"));
  }, 5_000);
  const opening = dial();
  try {
    return await Promise.race([opening, late.promise]);
  } catch (error) {
    // It may still come.
    opening.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Asks a Service in the cluster; rejects where its certificate is not the right one. */
export async function queryService(
  { dial, tls }: ServiceDoor,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const socket = await dialled(dial);
  const createConnection = (): Socket => (tls === undefined ? socket : connect({ socket, ...tls }));
  const requested = request({ createConnection, path, headers: { connection: "close" }, timeout: 10_000 });
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  requested.once("timeout", () => requested.destroy(new Error("no answer within 10 s")));
  requested.once("error", reject);
  requested.once("response", (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
  });
  requested.end();
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Fingerprint of the certificate that a Service shows; it is verified. */
export async function shownBy({ dial, tls }: ServiceDoor): Promise<string> {
  const socket = await dialled(dial);
  const peer = connect({ socket, ...tls });
  try {
    await once(peer, "secureConnect");
    return peer.getPeerX509Certificate()?.fingerprint256 ?? "";
  } finally {
    peer.destroy();
  }
}
