import type { ClusterConfig } from "../config/cluster-config.ts";
import type { System } from "../system/system.ts";
import type { ApiRequest } from "./api-request.ts";
import { ApiTransport } from "./api-transport.ts";

/** The way to one API server: shared connections, credentials, deadlines, careful retries. */
export interface Transport extends AsyncDisposable {
  /**
   * Sends one request and reads the response: JSON as a value, plain text as a string. Throws `ApiError`. Reads are repeated
   * after passing trouble, writes only when the server cannot have acted.
   */
  send(request: ApiRequest): Promise<unknown>;
  /** Opens a stream on a connection of its own. Throws `ApiError` when the response is not 2xx; never repeats. */
  openStream(path: string, options: StreamOptions): Promise<ApiStream>;
}

/** How to open a stream. */
export interface StreamOptions extends Pick<ApiRequest, "subject" | "accept" | "headers" | "textLimitBytes"> {
  /** Default: `watch`. */
  readonly verb?: string | undefined;
  /** Ends the stream whenever it aborts; iterating then throws an ApiError of class `aborted`. */
  readonly signal: AbortSignal;
  /** Until the response begins (default: 30 s). The stream itself has no limit: its reader watches for silence. */
  readonly timeoutMs?: number | undefined;
}

/** A stream that the server has begun. */
export interface ApiStream {
  readonly status: number;
  /** Bytes as they come; leaving the loop closes the connection, a broken one throws an ApiError of class `transient`. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One request on the wire, for metrics. */
export interface Observation {
  readonly method: string;
  readonly verb: string;
  readonly host: string;
  /** HTTP status, or `<error>` without a whole response. */
  readonly code: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** An attempt that failed and is followed by another. */
export type Retry = Pick<Observation, "method" | "host" | "code">;

/** Options of a transport. */
export interface TransportOptions {
  readonly config: ClusterConfig;
  readonly system: System;
  /** Name in the server's logs (default: `quartermaster`). */
  readonly userAgent?: string | undefined;
  /** Called for every attempt; must not throw. */
  readonly observe?: ((observation: Observation) => void) | undefined;
  /** Called before each further attempt. */
  readonly observeRetry?: ((retry: Retry) => void) | undefined;
}

/**
 * Connects to the cluster of a configuration; the first connection is made by the first request.
 *
 * @example
 * await using transport = createTransport({ config: await loadConfig({ system }), system });
 */
export function createTransport(options: TransportOptions): Transport {
  return new ApiTransport(options);
}
