import type { ClusterConfig } from "../config/cluster-config.ts";
import { ApiError } from "../errors.ts";
import type { System } from "../system/system.ts";
import {
  type ApiRequest,
  describeRequest,
  headersOf,
  impersonationHeaders,
  serverAddress,
} from "./api-request.ts";
import { Connections } from "./connections.ts";
import { Deadline } from "./deadline.ts";
import { type Exchange, exchange, readResponse, type WireRequest } from "./exchange.ts";
import { failureError } from "./failure-error.ts";
import { Identity, type Presented } from "./identity.ts";
import { openStream } from "./open-stream.ts";
import { stringifyJson } from "./parse-json.ts";
import { responseError } from "./response-error.ts";
import { retryDelayMs } from "./retry-delay-ms.ts";
import type {
  ApiStream,
  Observation,
  Retry,
  StreamOptions,
  Transport,
  TransportOptions,
} from "./transport.ts";

const defaultTimeoutMs = 30_000;

/** The one implementation of Transport. */
export class ApiTransport implements Transport {
  readonly #system: System;
  readonly #connections: Connections;
  readonly #identity: Identity;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #host: string;
  readonly #userAgent: string;
  /** As whom the configuration speaks: calls, lists and watches alike. */
  readonly #speaker: readonly string[];
  readonly #observe: ((observation: Observation) => void) | undefined;
  readonly #observeRetry: ((retry: Retry) => void) | undefined;

  constructor({ config, system, userAgent = "quartermaster", observe, observeRetry }: TransportOptions) {
    const { origin, basePath, host } = serverAddress(config.server);
    this.#system = system;
    this.#origin = origin;
    this.#basePath = basePath;
    this.#host = host;
    this.#connections = new Connections(endpointOf(config, origin));
    this.#identity = new Identity(config);
    this.#userAgent = userAgent;
    this.#speaker = config.impersonate === undefined ? [] : impersonationHeaders(config.impersonate);
    this.#observe = observe;
    this.#observeRetry = observeRetry;
  }

  async send(request: ApiRequest): Promise<unknown> {
    using deadline = new Deadline(this.#system, request.timeoutMs ?? defaultTimeoutMs, request.signal);
    const body = request.body === undefined ? undefined : stringifyJson(request.body);
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.#authenticated(request, body, deadline);
      if (!(outcome instanceof ApiError)) return outcome.value;
      const delayMs = this.#retryDelayMs(request, outcome, attempts);
      if (delayMs === undefined || delayMs > deadline.remainingMs) throw outcome;
      this.#observeRetry?.({ method: request.method, host: this.#host, code: codeOf(outcome.status) });
      await deadline.sleep(delayMs);
    }
  }

  async openStream(path: string, options: StreamOptions): Promise<ApiStream> {
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const { verb = "watch" } = options;
    const request: ApiRequest = { ...options, verb, method: "GET", path, timeoutMs };
    using deadline = new Deadline(this.#system, timeoutMs, options.signal);
    const presented = await this.#presented(request, deadline);
    if (presented instanceof ApiError) throw presented;
    try {
      return await this.#openOnce(request, presented, options);
    } catch (error) {
      const renewed = await this.#renewed(request, { outcome: error, refused: presented, deadline });
      if (renewed === undefined) throw error;
      return await this.#openOnce(request, renewed, options);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections.destroy();
  }

  /** One attempt; a second one with fresh credentials when the server does not know us. */
  async #authenticated(request: ApiRequest, body: string | undefined, deadline: Deadline): Promise<Outcome> {
    const presented = await this.#presented(request, deadline);
    if (presented instanceof ApiError) return presented;
    const outcome = await this.#attempt(request, this.#wire(request, presented, body), {
      presented,
      deadline,
    });
    const renewed = await this.#renewed(request, { outcome, refused: presented, deadline });
    if (renewed === undefined) return outcome;
    return await this.#attempt(request, this.#wire(request, renewed, body), { presented: renewed, deadline });
  }

  async #attempt(
    request: ApiRequest,
    wire: WireRequest,
    { presented, deadline }: { readonly presented: Presented; readonly deadline: Deadline },
  ): Promise<Outcome> {
    const startMs = this.#system.monotonicMs();
    const { textLimitBytes } = request;
    const taking = { deadline, textLimitBytes };
    const result = await exchange(this.#connections.lanes(presented.tls).calls, wire, taking);
    const { code, responseBytes } = seenOf(result);
    this.#report(request, wire, { code, startMs, responseBytes });
    if (result.kind === "failure") return failureError(request, result);
    if (result.status >= 300) return responseError(request, result, this.#system.wallMs());
    request.onStatus?.(result.status);
    return readResponse(request, result);
  }

  async #openOnce(request: ApiRequest, presented: Presented, { signal }: StreamOptions): Promise<ApiStream> {
    const wire = this.#wire(request, presented, undefined);
    const { streams: dispatcher } = this.#connections.lanes(presented.tls);
    const startMs = this.#system.monotonicMs();
    try {
      const stream = await openStream({ dispatcher, wire, request, signal, system: this.#system });
      this.#report(request, wire, { code: stream.status, startMs, responseBytes: 0 });
      return stream;
    } catch (error) {
      const code = error instanceof ApiError ? error.status : undefined;
      this.#report(request, wire, { code, startMs, responseBytes: 0 });
      throw error;
    }
  }

  /** The credentials for the server now; an error when there are none in time. */
  async #presented(request: ApiRequest, deadline: Deadline): Promise<Presented | ApiError> {
    try {
      const current = this.#identity.current();
      if (!(current instanceof Promise)) return current;
      return (await deadline.within(current)) ?? endedError(request, deadline);
    } catch (cause) {
      return credentialError(request, cause);
    }
  }

  /** Other credentials after a 401; undefined when there are none. What a call before us has renewed already will do. */
  async #renewed(
    request: ApiRequest,
    { outcome, refused, deadline }: Refusal,
  ): Promise<Presented | undefined> {
    if (!(outcome instanceof ApiError) || outcome.class !== "unauthorized") return undefined;
    const current = await this.#presented(request, deadline);
    if (!(current instanceof ApiError) && !current.isSameAs(refused)) return current;
    try {
      const renewed = await deadline.within(this.#identity.refresh());
      return renewed === undefined || renewed.isSameAs(refused) ? undefined : renewed;
    } catch (cause) {
      throw credentialError(request, cause);
    }
  }

  #retryDelayMs({ method }: ApiRequest, error: ApiError, attempts: number): number | undefined {
    return retryDelayMs({ method, error, attempts, random: this.#system.random() });
  }

  #wire(request: ApiRequest, presented: Presented, body: string | undefined): WireRequest {
    return {
      origin: this.#origin,
      path: `${this.#basePath}${request.path}`,
      method: request.method,
      headers: headersOf(spokenBy(this.#speaker, request), presented.authorization, this.#userAgent),
      // A DELETE with a body would close its connection otherwise: a new TLS handshake for each.
      ...(body === undefined ? {} : { body, reset: false }),
    };
  }

  #report(
    { method, verb }: ApiRequest,
    { body }: WireRequest,
    { code, startMs, responseBytes }: Attempt,
  ): void {
    this.#observe?.({
      method,
      verb,
      host: this.#host,
      code: codeOf(code),
      durationMs: this.#system.monotonicMs() - startMs,
      requestBytes: typeof body === "string" ? Buffer.byteLength(body) : 0,
      responseBytes,
    });
  }
}

/** The request as the speaker's, unless it says itself whose it is. */
function spokenBy(speaker: readonly string[], request: ApiRequest): ApiRequest {
  const { headers = [] } = request;
  if (speaker.length === 0 || headers.includes("impersonate-user")) return request;
  return { ...request, headers: [...speaker, ...headers] };
}

function codeOf(status: number | undefined): string {
  return status === undefined ? "<error>" : String(status);
}

interface Attempt {
  readonly code: number | undefined;
  readonly startMs: number;
  readonly responseBytes: number;
}

interface Refusal {
  readonly outcome: unknown;
  readonly refused: Presented;
  readonly deadline: Deadline;
}

type Outcome = { readonly value: unknown } | ApiError;

function endpointOf(
  { tls, proxyUrl }: ClusterConfig,
  origin: string,
): ConstructorParameters<typeof Connections>[0] {
  return {
    origin,
    insecure: tls.insecure,
    serverName: tls.serverName,
    proxyUrl,
  };
}

function seenOf(result: Exchange): Pick<Attempt, "code" | "responseBytes"> {
  if (result.kind === "failure") return { code: undefined, responseBytes: 0 };
  return { code: result.status, responseBytes: result.sizeBytes };
}

function endedError(request: ApiRequest, { ended = "timeout", abortReason }: Deadline): ApiError {
  return failureError(request, { why: ended, sent: false, cause: abortReason });
}

/** Nothing was sent: the credential could not be had. */
function credentialError(request: ApiRequest, cause: unknown): ApiError {
  return new ApiError(`${describeRequest(request)}: no credential`, {
    class: "unauthorized",
    reason: "CredentialUnavailable",
    mayHaveActed: false,
    cause,
  });
}
