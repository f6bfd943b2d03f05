import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";

import type { ApiAccess } from "@quartermaster/local-cluster";

/** A request that was read whole and can be passed on. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Passes requests on to the real API server, or to the stale one. */
export class Forwarder implements Disposable {
  readonly #server: string;
  readonly #staleServer: string | undefined;
  readonly #agent: Agent;

  constructor({ server, caPem }: ApiAccess, staleServer: string | undefined) {
    this.#server = server;
    this.#staleServer = staleServer;
    this.#agent = new Agent({ ca: caPem, keepAlive: true });
  }

  /** Resolves with the response as soon as its headers are there. */
  async send(message: Message, signal: AbortSignal): Promise<IncomingMessage> {
    return await this.#sendTo(this.#server, message, signal);
  }

  /** The same, answered by the second API server. */
  async sendStale(message: Message, signal: AbortSignal): Promise<IncomingMessage> {
    if (this.#staleServer === undefined)
      throw new Error("the proxy has no second API server to respond from");
    return await this.#sendTo(this.#staleServer, message, signal);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #sendTo(
    server: string,
    { method, path, headers, body }: Message,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { host: _host, connection: _connection, ...rest } = headers;
    const sent = request(
      new URL(path, server),
      { method, headers: rest, agent: this.#agent, signal },
      resolve,
    );
    sent.on("error", reject).end(body);
    return await promise;
  }
}
