import type { Preconditions } from "./preconditions.ts";
import type { SeenRequest } from "./seen-request.ts";
import type { WatchTransform } from "./watch-transform.ts";

/**
 * What is done to a request instead of passing it on. The ids are those of the fault list: C crashes, E errors, W watch
 * streams, S stale reads.
 */
export type Fault =
  /** C1: the operator is killed before the request leaves; the server never sees it. */
  | { readonly kind: "crash-before"; readonly kill: () => void }
  /** C2: the server has acted, the operator is killed, the response is lost. */
  | { readonly kind: "crash-after-commit"; readonly kill: () => void }
  /** C3: the response is delivered, then the operator is killed before it can ask again. */
  | { readonly kind: "crash-after-answer"; readonly kill: () => void }
  /** E1, E2, E3, E7, W5 on a list: a response of ours; the server never sees the request. */
  | ({ readonly kind: "answer" } & SyntheticResponse)
  /** I1 to I5: another client acts between our read and our write; then the request is forwarded. */
  | {
      readonly kind: "interleave";
      readonly act: (request: InterleavedRequest) => Promise<void>;
      /** Taken away from the request before it is forwarded: shows what they prevent (default: nothing). */
      readonly without?: readonly (keyof Preconditions)[] | undefined;
      /** Called with the status of the response before it is delivered. */
      readonly after?: ((status: number) => Promise<void>) | undefined;
    }
  /** E4: held for ever, never passed on. */
  | { readonly kind: "hold-request" }
  /** E5: passed on, the response held for ever. */
  | { readonly kind: "hold-answer" }
  /** E6: the connection is reset after so many bytes of the response's body. */
  | { readonly kind: "cut-answer"; readonly afterBytes: number }
  /** E6: the response ends cleanly after so many bytes: JSON that stops half-way. */
  | { readonly kind: "truncate-answer"; readonly afterBytes: number }
  /** E6: the server's body under another content type. */
  | { readonly kind: "mislabel-answer"; readonly contentType: string }
  /** S1, S2, S3: answered by the second API server. */
  | {
      readonly kind: "answer-stale";
      /** Requests what that server has at hand, however old: a read without a version would wait for etcd (default: unchanged). */
      readonly isCached?: boolean | undefined;
      /** S2: changes the stream of events of a watch. */
      readonly transform?: WatchTransform | undefined;
    }
  /** W1 to W7: the stream of events is passed on changed. */
  | { readonly kind: "watch"; readonly transform: WatchTransform };

/** A request that the proxy holds while another client acts. */
export interface InterleavedRequest extends SeenRequest {
  /** Body of the request as text; empty for most deletes of clients without preconditions. */
  readonly body: string;
}

/** A response that the proxy makes up. */
export interface SyntheticResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A Status object of that code and reason unless given. */
  readonly body?: string;
  readonly reason?: string;
}

/** E1. */
export function conflict(reason: "Conflict" | "AlreadyExists" = "Conflict"): Fault {
  return { kind: "answer", status: 409, reason };
}

/** E2: with the Retry-After given in seconds, or none. */
export function tooManyRequests(retryAfter?: number | string): Fault {
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { kind: "answer", status: 429, reason: "TooManyRequests", headers };
}

/** E3. */
export function serverError(status: 500 | 502 | 503 | 504 = 500): Fault {
  return { kind: "answer", status, reason: status === 503 ? "ServiceUnavailable" : "InternalError" };
}

/** E6: what a proxy in front of a cluster says when it is unwell. */
export function htmlPage(status = 502): Fault {
  return {
    kind: "answer",
    status,
    headers: { "content-type": "text/html" },
    body: "<html><body><h1>Bad Gateway</h1></body></html>",
  };
}

/** E7. */
export function refused(status: 401 | 403): Fault {
  return { kind: "answer", status, reason: status === 401 ? "Unauthorized" : "Forbidden" };
}

/** W5 on a list or at the start of a watch. */
export function expired(): Fault {
  return { kind: "answer", status: 410, reason: "Expired" };
}

/** The body of a made-up answer. */
export function syntheticBody({ status, reason, body }: SyntheticResponse): string {
  const code = reason ?? "InternalError";
  return (
    body ??
    JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `injected: ${code}`,
      reason: code,
      code: status,
    })
  );
}
