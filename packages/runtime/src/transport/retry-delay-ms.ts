import type { ApiError } from "../errors.ts";
import type { ApiRequest } from "./api-request.ts";

/** Attempts of one call, the first included. */
const attemptLimit = 5;

const firstDelayMs = 100;
const longestDelayMs = 5_000;

export interface Attempted {
  readonly method: ApiRequest["method"];
  readonly error: ApiError;
  /** How many attempts were made. */
  readonly attempts: number;
  /** From 0 to 1, fresh for each decision. */
  readonly random: number;
}

/**
 * How long to wait before another attempt, or undefined when there must be none: reads are repeated after any passing
 * trouble, writes only when the server certainly did not act and it was the network or the server that requested a delay.
 */
export function retryDelayMs({ method, error, attempts, random }: Attempted): number | undefined {
  if (attempts >= attemptLimit || !isWorthRepeating(method, error)) return undefined;
  const backOffMs = Math.min(firstDelayMs * 2 ** attempts, longestDelayMs) * (0.5 + random / 2);
  // Spread a little: all clients got the same delay.
  return error.retryAfterMs === undefined ? backOffMs : error.retryAfterMs + random * 100;
}

function isWorthRepeating(method: ApiRequest["method"], error: ApiError): boolean {
  if (hopelessReasons.has(error.reason ?? "")) return false;
  const isPassing = error.class === "transient" || error.class === "tooManyRequests";
  if (method === "GET") return isPassing || (error.class === "timeout" && error.status !== undefined);
  if (error.mayHaveActed) return false;
  // A 429 without Retry-After is an eviction that a disruption budget forbids: for the caller to decide.
  return (
    error.class === "transient" || (error.class === "tooManyRequests" && error.retryAfterMs !== undefined)
  );
}

/** Errors that do not pass within seconds: a version this server has not seen yet, a certificate we do not trust. */
const hopelessReasons = new Set([
  "ResourceVersionTooLarge",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UND_ERR_DESTROYED",
]);
