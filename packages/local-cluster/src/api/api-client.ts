import { Agent, request } from "node:https";
import type { RequestOptions } from "node:https";

import { LocalClusterError } from "../errors.ts";

/** Address and credentials of an API server. */
export interface ApiAccess {
  readonly server: string;
  readonly caPem: string;
  readonly token?: string;
}

/** A response of the API server, whatever its status code. */
export interface ApiResponse {
  readonly status: number;
  readonly body: string;
}

/** One request to the API server. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Milliseconds until the request is given up (default: ten seconds). */
  readonly timeoutMs?: number;
}

/**
 * Just enough of a client to start a cluster and to read its state. It never retries: callers poll.
 * Rejects when no response came; any response resolves.
 */
export class ApiClient implements Disposable {
  readonly #access: ApiAccess;
  readonly #agent: Agent;

  constructor(access: ApiAccess) {
    this.#access = access;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16, ca: access.caPem });
  }

  async send({
    method = "GET",
    path,
    body,
    contentType = "application/json",
    timeoutMs = 10_000,
  }: ApiRequest): Promise<ApiResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      accept: "application/json",
      ...(this.#access.token === undefined ? {} : { authorization: `Bearer ${this.#access.token}` }),
      ...(payload === undefined
        ? {}
        : { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
    };
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      headers,
      signal: AbortSignal.timeout(timeoutMs),
    };
    const sent = request(new URL(path, this.#access.server), options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(payload);
    return await promise;
  }

  /** Applies an object server-side under our own field manager; throws unless the server took it. */
  async apply(path: string, object: unknown): Promise<void> {
    const reply = await this.send({
      method: "PATCH",
      path: `${path}?fieldManager=local-cluster&force=true`,
      body: object,
      contentType: "application/apply-patch+yaml",
    });
    if (reply.status >= 300) {
      throw new LocalClusterError(
        "ApiRefused",
        `The API server responded ${reply.status} to ${path}: ${reply.body.slice(0, 500)}.`,
        "This is a fault of ours: please report it.",
      );
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
