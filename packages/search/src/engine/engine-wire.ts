import { type System, unreachable as never } from "@quartermaster/runtime";
import type { buildConnector } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";

import type { EngineCall, EngineEndpoint, EngineTarget } from "./engine-client.ts";
import { EngineError, type EngineErrorCode, mostTelling, noPod } from "./engine-error.ts";
import { type Exchange, exchange } from "./exchange.ts";
import { causeName, type EngineDial, openConnection } from "./open-connection.ts";
import { type EngineResponse, readResponse } from "./read-response.ts";

/** One request of a call. */
export interface EngineRequest {
  readonly call: EngineCall;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  /** An object is sent as JSON, text as lines of JSON. */
  readonly body?: object | string | undefined;
  /** Statuses besides 2xx that carry a fact. */
  readonly accepts?: readonly number[] | undefined;
  /** The body holds a credential: the engine's words about it stay out of errors. */
  readonly isSecret?: boolean | undefined;
}

/** How the wire behaves. */
export interface WireOptions {
  readonly system: Pick<System, "setTimer" | "sleep" | "monotonicMs">;
  readonly dial?: EngineDial | undefined;
  /** Longest time of a request, over all nodes that it is tried on (default: 30 s). */
  readonly timeoutMs?: number | undefined;
  /** Largest response (default: 8 MiB for tables of shards and indices, 1 MiB for all others). */
  readonly responseLimitBytes?: number | undefined;
  /** Called for every request that was tried. */
  readonly onRequest?: ((call: EngineCall, result: "ok" | EngineErrorCode) => void) | undefined;
}

/** Nodes that one request is tried on: more would only delay callers for a deleted cluster. */
const attemptLimit = 3;

/** Connections to one node; more requests wait for each other. */
const connectionsPerNode = 2;

/** Shorter than the engine's own limit, so that we close first. */
const keepAliveMs = 20_000;

const callLimitMs = 30_000;
const oneMiB = 1024 * 1024;

/** Responses that have a row for each shard or index; 8 MiB are 60,000 of them. What reads so much takes half a second. */
const tables: ReadonlySet<EngineCall> = new Set(["shards", "nodeLoad", "indices"]);

function limitOf(call: EngineCall): number {
  return tables.has(call) ? 8 * oneMiB : oneMiB;
}

/** Sends requests to the nodes of one cluster and to nothing else. Holds no connection before the first request. */
export class EngineWire {
  readonly #target: EngineTarget;
  readonly #options: WireOptions;
  readonly #pools = new Map<string, Pool>();
  /** Nodes that turned our certificate down on their newest connection. */
  readonly #refusing = new Set<string>();
  #preferred = 0;
  #isClosed = false;

  constructor(target: EngineTarget, options: WireOptions) {
    this.#target = target;
    this.#options = options;
  }

  /**
   * Queries the nodes in turn, beginning with the one that responded last. Continues to the next only when that is safe: a read that gave
   * no fact, or a write that this node cannot have acted on.
   */
  async any(request: EngineRequest): Promise<EngineResponse> {
    const { endpoints } = this.#target;
    const count = Math.min(attemptLimit, endpoints.length);
    const { system, timeoutMs = callLimitMs } = this.#options;
    const endMs = system.monotonicMs() + timeoutMs;
    const failures: EngineError[] = [];
    for (let tried = 0; tried < count; tried += 1) {
      const at = this.#preferred % endpoints.length;
      const endpoint = endpoints[at];
      if (endpoint === undefined) break;
      const remainingMs = endMs - system.monotonicMs();
      // A write that was sent is not sent again, so it may take all the time there is.
      const shareMs = request.method === "GET" ? remainingMs / (count - tried) : remainingMs;
      try {
        return await this.#request(endpoint, request, shareMs);
      } catch (error) {
        if (this.#preferred % endpoints.length === at) this.#preferred = at + 1;
        if (!(error instanceof EngineError) || !isWorthAnother(request, error)) throw error;
        failures.push(error);
      }
    }
    throw mostTelling(failures) ?? noPod(request.call);
  }

  /** Queries this node and no other. */
  async one(node: string, request: EngineRequest): Promise<EngineResponse> {
    return await this.#request(this.endpoint(node), request, this.#options.timeoutMs ?? callLimitMs);
  }

  /** Where a node is; throws for one that is no pod of the cluster. */
  endpoint(node: string): EngineEndpoint {
    const endpoint = this.#target.endpoints.find((candidate) => candidate.node === node);
    if (endpoint !== undefined) return endpoint;
    throw new EngineError(`node ${node}: no pod of this name is known`, {
      code: "unreachable",
      mayHaveActed: false,
    });
  }

  /** Ends every connection; what runs on them fails, and so does whatever comes later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(async (pool) => await pool.destroy()));
  }

  async #request(
    endpoint: EngineEndpoint,
    request: EngineRequest,
    timeoutMs: number,
  ): Promise<EngineResponse> {
    const { onRequest } = this.#options;
    try {
      const response = await this.#send(endpoint, request, timeoutMs);
      onRequest?.(request.call, "ok");
      return response;
    } catch (error) {
      if (error instanceof EngineError) onRequest?.(request.call, error.code);
      throw error;
    }
  }

  async #send(endpoint: EngineEndpoint, request: EngineRequest, timeoutMs: number): Promise<EngineResponse> {
    const what = `${request.call} on node ${endpoint.node}`;
    const { system, responseLimitBytes = limitOf(request.call) } = this.#options;
    const end = await exchange(this.#pool(endpoint), this.#wireRequest(endpoint, request), {
      system,
      timeoutMs,
      responseLimitBytes,
    });
    if (end.kind === "failure") {
      const isRefused = this.#refusing.has(endpoint.node);
      throw failure(what, end, { limitBytes: responseLimitBytes, isRefused });
    }
    return readResponse(end, {
      what,
      accepts: request.accepts ?? [],
      isSecret: request.isSecret ?? false,
      redact: this.#redact,
    });
  }

  #wireRequest({ host, port }: EngineEndpoint, { method, path, body }: EngineRequest): ExchangeOptions {
    const { tls, login } = this.#target;
    const name = tls?.serverName ?? host;
    const isLines = typeof body === "string";
    const headers = {
      accept: "application/json",
      host: `${name.includes(":") ? `[${name}]` : name}:${port}`,
      ...(body === undefined ? {} : { "content-type": isLines ? ndjson : "application/json" }),
      ...(login === undefined ? {} : { authorization: basicLogin(login) }),
    };
    const text = isLines || body === undefined ? body : JSON.stringify(body);
    return { origin: this.#origin(host, port), method, path, headers, body: text };
  }

  #pool(endpoint: EngineEndpoint): Pool {
    const { node, host, port } = endpoint;
    if (this.#isClosed)
      throw new EngineError(`node ${node}: the client was closed`, {
        code: "unreachable",
        mayHaveActed: false,
      });
    const known = this.#pools.get(node);
    if (known !== undefined) return known;
    const pool = new Pool(this.#origin(host, port), {
      connections: connectionsPerNode,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connect: (_options, callback) => {
        void this.#connect(endpoint, callback);
      },
    });
    this.#pools.set(node, pool);
    return pool;
  }

  async #connect(endpoint: EngineEndpoint, done: buildConnector.Callback): Promise<void> {
    try {
      this.#refusing.delete(endpoint.node);
      const socket = await openConnection(endpoint, this.#target.tls, {
        ...this.#options,
        onRefused: () => {
          this.#refusing.add(endpoint.node);
        },
      });
      done(null, socket);
    } catch (error) {
      done(error instanceof Error ? error : new Error("no connection"), null);
    }
  }

  #origin(host: string, port: number): string {
    const scheme = this.#target.tls === undefined ? "http" : "https";
    return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /** A hostile engine may echo what we logged in with. */
  readonly #redact = (text: string): string => {
    const { login } = this.#target;
    if (login === undefined || login.password === "") return text;
    const forms = [login.password, Buffer.from(`${login.username}:${login.password}`).toString("base64")];
    return forms.reduce((clean, form) => clean.replaceAll(form, "[redacted]"), text);
  };
}

type ExchangeOptions = Parameters<typeof exchange>[1];

const ndjson = "application/x-ndjson";

function basicLogin({
  username,
  password,
}: {
  readonly username: string;
  readonly password: string;
}): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Reads continue whenever a node gave no fact; a response about the content would be the same everywhere. */
function isWorthAnother({ method }: EngineRequest, error: EngineError): boolean {
  if (!error.mayHaveActed) return true;
  return method === "GET" && nodeProblems.has(error.code);
}

const nodeProblems: ReadonlySet<EngineErrorCode> = new Set([
  "unreachable",
  "timeout",
  "untrusted",
  "unavailable",
  "unreadable",
]);

function failure(
  what: string,
  { why, isSent, cause }: Extract<Exchange, { readonly kind: "failure" }>,
  { limitBytes, isRefused }: { readonly limitBytes: number; readonly isRefused: boolean },
): EngineError {
  if (cause instanceof EngineError) {
    const { code, message, mayHaveActed } = cause;
    return new EngineError(`${what}: ${message}`, { code, mayHaveActed, cause });
  }
  switch (why) {
    case "timeout":
      return new EngineError(`${what}: no response in time`, { code: "timeout", mayHaveActed: isSent });
    case "tooLarge":
      return new EngineError(`${what}: the response exceeds ${limitBytes} bytes`, { code: "unreadable" });
    case "broken":
      return isRefused
        ? new EngineError(`${what}: our client certificate was not accepted`, {
            code: "forbidden",
            mayHaveActed: false,
            cause,
          })
        : new EngineError(`${what}: the connection broke (${causeName(cause)})`, {
            code: "unreachable",
            mayHaveActed: isSent,
            cause,
          });
    default:
      return never(why);
  }
}
