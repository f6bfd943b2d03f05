import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";

import type { CertificateSource } from "../certificates/certificate-source.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import { drain, listen } from "../serving/listen.ts";
import type { System } from "../system/system.ts";
import { handleRequest, type RequestHandlerOptions, type WebhookObserver } from "./request-handler.ts";
import type { Reply, WebhookRoute } from "./respond-to-review.ts";

export interface WebhookServerOptions {
  readonly routes: readonly WebhookRoute[];
  /** Must have a certificate by the time of `listen`; changes are taken over immediately, open connections stay. */
  readonly certificates: CertificateSource;
  readonly system: System;
  readonly log?: Log | undefined;
  readonly observer?: WebhookObserver | undefined;
  /** Default: 9443; 0 takes any that is free. */
  readonly port?: number | undefined;
  /** Default: all addresses. */
  readonly host?: string | undefined;
  /** PEM. When given, only callers with a certificate of these CAs are heard. */
  readonly callerCaPem?: string | undefined;
  /** Default: 7 MiB: an object of 3 MiB comes twice in an update, with room to spare. */
  readonly bodyLimitBytes?: number | undefined;
  /** Until headers and body are there (default: 10 s). */
  readonly requestTimeoutMs?: number | undefined;
  /** More are turned away (default: 500). */
  readonly connectionLimit?: number | undefined;
  /** Then the connection is ended, so that callers spread over the replicas (default: 1,000). */
  readonly requestsPerConnection?: number | undefined;
  /** How long `stop` waits for responses in progress (default: 10 s). */
  readonly drainMs?: number | undefined;
}

/**
 * Serves admission and conversion reviews over HTTPS. `await using` stops it. It runs on the thread that starts it.
 *
 * @example
 * await using server = new WebhookServer({ system, certificates, routes: [{ kind: "admission", path: "/pods", decide }] });
 * await server.listen();
 */
export class WebhookServer implements AsyncDisposable {
  readonly #options: WebhookServerOptions;
  readonly #handling: RequestHandlerOptions;
  readonly #server: Server;
  #subscription: Disposable | undefined;
  #stopped: Promise<void> | undefined;
  #isEndingConnections = false;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    const { routes, system, log = silentLog, observer = {}, bodyLimitBytes = 7 * 2 ** 20 } = options;
    const byPath = new Map(routes.map((route) => [route.path, route]));
    this.#handling = { routes: byPath, system, log, observer, bodyLimitBytes };
    this.#server = createServer(serverOptions(options), (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.maxConnections = options.connectionLimit ?? 500;
    this.#server.maxRequestsPerSocket = options.requestsPerConnection ?? 1_000;
  }

  /** Begins to serve and returns the port. Throws when there is no certificate yet or the port is taken. */
  async listen(): Promise<number> {
    const { certificates, port = 9443, host } = this.#options;
    this.#useCertificate();
    this.#subscription = certificates.onChange(() => {
      this.#useCertificate();
    });
    return await listen(this.#server, { port, host, log: this.#handling.log });
  }

  /** Whether reviews are served; for the readiness probe. */
  get isListening(): boolean {
    return this.#server.listening && this.#stopped === undefined;
  }

  /** From now on each response is the last of its connection: callers connect again, elsewhere if they can. */
  endConnections(): void {
    this.#isEndingConnections = true;
  }

  /** No new connections; responses in progress are finished within the limit, the rest is cut. */
  async stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #useCertificate(): void {
    const pair = this.#options.certificates.current();
    if (pair === undefined) throw new Error("there is no serving certificate yet");
    this.#server.setSecureContext({
      ...tlsOptions(this.#options),
      cert: pair.certificatePem,
      key: pair.keyPem,
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await handleRequest(request, this.#handling);
    if (reply === undefined) response.destroy();
    else this.#send(response, reply, request.complete);
  }

  #send(response: ServerResponse, { status, body, contentType }: Reply, isRead: boolean): void {
    if (response.destroyed) return;
    const headers = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    const isLast = this.#isEndingConnections || this.#stopped !== undefined || !isRead;
    response.writeHead(status, { ...headers, ...(isLast && { connection: "close" }) });
    response.end(body);
  }

  async #stop(): Promise<void> {
    const { system, drainMs = 10_000, log } = this.#options;
    this.#subscription?.[Symbol.dispose]();
    await drain(this.#server, {
      system,
      limitMs: drainMs,
      onCut: () => {
        log?.warn("webhook responses are cut off");
      },
    });
  }
}

function serverOptions(options: WebhookServerOptions): ServerOptions {
  const { requestTimeoutMs = 10_000 } = options;
  return {
    ...tlsOptions(options),
    handshakeTimeout: 5_000,
    headersTimeout: Math.min(5_000, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs / 2),
    keepAliveTimeout: 90_000,
    maxHeaderSize: 16_384,
  };
}

function tlsOptions({ callerCaPem }: WebhookServerOptions): ServerOptions {
  const callers =
    callerCaPem === undefined ? {} : { ca: callerCaPem, requestCert: true, rejectUnauthorized: true };
  return { minVersion: "TLSv1.2", ...callers };
}
