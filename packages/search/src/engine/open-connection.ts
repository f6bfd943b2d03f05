import { connect as connectTcp, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type PeerCertificate, type TLSSocket } from "node:tls";

import { printable, type System } from "@quartermaster/runtime";
import { certificatesIn } from "@quartermaster/runtime/certificates";

import type { EngineEndpoint, EngineTls } from "./engine-client.ts";
import { EngineError, type EngineErrorCode } from "./engine-error.ts";

/** Opens a plain connection to a pod; ends it when the signal aborts. TLS comes on top of it. */
export type EngineDial = (endpoint: EngineEndpoint, signal: AbortSignal) => Promise<Socket>;

/** How connections are made. */
export interface ConnectionOptions {
  readonly system: Pick<System, "setTimer">;
  /** Default: TCP to the endpoint's address. Tests reach pods through a relay. */
  readonly dial?: EngineDial | undefined;
  /** Called when the other side refuses our certificate, which may be after the handshake and before any other listener. */
  readonly onRefused?: (() => void) | undefined;
}

/** Whom to expect at the other end. `seen` only: whatever certificate is served; such a connection must carry no request. */
export type PeerCheck = EngineTls | { readonly seen: "any"; readonly serverName: string };

/** A node that needs longer for a handshake than this cannot serve anybody. */
const connectLimitMs = 10_000;

/**
 * Connects, and with `peer` verifies the certificate under the service name whatever the address. Throws an `EngineError` that
 * says that nothing was sent.
 */
export async function openConnection(
  endpoint: EngineEndpoint,
  peer: PeerCheck | undefined,
  { system, dial = dialTcp, onRefused }: ConnectionOptions,
): Promise<Socket> {
  const giveUp = new AbortController();
  const timer = system.setTimer(connectLimitMs, () => {
    giveUp.abort();
  });
  try {
    if (peer !== undefined) assertCa(endpoint, peer);
    const socket = await dial(endpoint, giveUp.signal);
    return peer === undefined ? socket : await secure(socket, peer, { signal: giveUp.signal, onRefused });
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw connectionError(endpoint, cause, { isLate: giveUp.signal.aborted });
  } finally {
    timer.cancel();
  }
}

/** Without a CA of ours Node would trust the machine's. */
function assertCa({ node }: EngineEndpoint, peer: PeerCheck): void {
  if ("seen" in peer || certificatesIn(peer.caPem).length > 0) return;
  throw new EngineError(`node ${node}: there is no CA to verify it with`, {
    code: "untrusted",
    mayHaveActed: false,
  });
}

const dialTcp: EngineDial = async ({ host, port }, signal) => {
  const socket = connectTcp({ host, port, noDelay: true });
  return await opened(socket, "connect", signal);
};

interface SecureOptions {
  readonly signal: AbortSignal;
  readonly onRefused: (() => void) | undefined;
}

async function secure(
  socket: Socket,
  peer: PeerCheck,
  { signal, onRefused }: SecureOptions,
): Promise<TLSSocket> {
  const common = { socket, servername: peer.serverName, minVersion: "TLSv1.2" } as const;
  if ("seen" in peer)
    return await opened(connectTls({ ...common, rejectUnauthorized: false }), "secureConnect", signal);
  const { caPem, client } = peer;
  const identity = client === undefined ? {} : { cert: client.certificatePem, key: client.keyPem };
  const secured = connectTls({
    ...common,
    ...identity,
    ca: caPem,
    rejectUnauthorized: true,
    checkServerIdentity: (_host, certificate) => wrongName(peer, certificate),
  });
  secured.on("error", (error) => {
    if (isClientRefused(error)) onRefused?.();
  });
  try {
    return await opened(secured, "secureConnect", signal);
  } catch (cause) {
    // Node sets it exactly when the certificate was read and not accepted.
    throw isRejected(secured) ? new UntrustedPeer(cause) : cause;
  }
}

/** Node has verified the chain by now. */
function wrongName(
  { serverName, otherName, mountedCertificates = [] }: EngineTls,
  certificate: PeerCertificate,
): Error | undefined {
  const error = checkServerIdentity(serverName, certificate);
  const isOther = otherName !== undefined && checkServerIdentity(otherName, certificate) === undefined;
  const isMounted = mountedCertificates.includes(
    certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
  );
  return isOther || isMounted ? undefined : error;
}

/** Its declared type knows no state without an error. */
function isRejected({ authorizationError }: { readonly authorizationError?: unknown }): boolean {
  return authorizationError !== undefined && authorizationError !== null;
}

/** The certificate was read and is not one that we accept. */
class UntrustedPeer extends Error {
  constructor(cause: unknown) {
    super("certificate not accepted", { cause });
  }
}

async function opened<S extends Socket>(
  socket: S,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const giveUp = (): void => {
    socket.destroy(new Error("no connection in time"));
  };
  // Stays: an error between this moment and the next listener would end the process.
  socket.on("error", reject);
  socket.once("close", () => {
    reject(new Error("closed by the other side"));
  });
  socket.once(event, () => {
    resolve(undefined);
  });
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await promise;
    return socket;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function connectionError(
  { node }: EngineEndpoint,
  cause: unknown,
  { isLate }: { readonly isLate: boolean },
): EngineError {
  const [code, problem] = connectionProblem(cause, isLate);
  return new EngineError(`node ${node}: ${problem}`, { code, mayHaveActed: false, cause });
}

function connectionProblem(cause: unknown, isLate: boolean): readonly [EngineErrorCode, string] {
  if (cause instanceof UntrustedPeer)
    return ["untrusted", `its certificate is not one that we trust (${causeName(cause.cause)})`];
  if (isClientRefused(cause))
    return ["forbidden", `our client certificate was not accepted (${causeName(cause)})`];
  if (isLate) return ["timeout", "no connection in time"];
  return ["unreachable", `no connection (${causeName(cause)})`];
}

/** Whether the other side turned our certificate down: TLS 1.3 reports it only after the handshake. */
function isClientRefused(cause: unknown): boolean {
  return /^ERR_SSL_.*ALERT_\w*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(causeName(cause));
}

/** Code of the innermost error that has one, e.g. `ECONNREFUSED`. */
export function causeName(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.cause instanceof Error) return causeName(error.cause);
  const code: unknown = "code" in error ? error.code : undefined;
  return printable(typeof code === "string" ? code : error.name).slice(0, 80);
}
