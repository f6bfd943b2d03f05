import { ExternalError, type ExternalErrorClass } from "@quartermaster/runtime";

import type { EngineCall } from "./engine-client.ts";

/** Class of an error of a call to an engine, as far as it changes what to do next. */
export type EngineErrorCode =
  /** No connection, or it broke. */
  | "unreachable"
  | "timeout"
  /** The certificate is not one that we trust: no request was sent. */
  | "untrusted"
  /** Our certificate or password was not accepted, or lacks the permission. */
  | "forbidden"
  /** Elasticsearch refuses such calls because its license has expired: says nothing about its health. */
  | "licenseExpired"
  /** There is no such index, entity or API. */
  | "notFound"
  /** Another client wrote at the same time. */
  | "conflict"
  /** The engine cannot respond now: no elected manager, overload, security not initialised. */
  | "unavailable"
  /** The engine read the request and refused its content. */
  | "invalid"
  /** The response is not what the API promises: too large, too deep, not JSON, a field missing. */
  | "unreadable"
  /** This distribution has no such API. */
  | "unsupported";

const classes: Readonly<Record<EngineErrorCode, ExternalErrorClass>> = {
  unreachable: "transient",
  timeout: "transient",
  untrusted: "refused",
  forbidden: "refused",
  licenseExpired: "refused",
  notFound: "transient",
  conflict: "transient",
  unavailable: "transient",
  invalid: "invalid",
  unreadable: "transient",
  unsupported: "invalid",
};

/** Every code. */
export const engineErrorCodes: readonly EngineErrorCode[] = [
  "unreachable",
  "timeout",
  "untrusted",
  "forbidden",
  "licenseExpired",
  "notFound",
  "conflict",
  "unavailable",
  "invalid",
  "unreadable",
  "unsupported",
];

export interface EngineErrorFacts {
  readonly code: EngineErrorCode;
  /** HTTP status; left out when no response came. */
  readonly status?: number | undefined;
  /** The engine's own name of the error, e.g. `index_not_found_exception`. */
  readonly type?: string | undefined;
  /** False only when the engine cannot have acted on the request (default: true). */
  readonly mayHaveActed?: boolean | undefined;
  readonly cause?: unknown;
}

/** A call to an engine that gave no fact. Decide by `code`, never by text; the message holds no body and no credentials. */
export class EngineError extends ExternalError {
  readonly code: EngineErrorCode;
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly mayHaveActed: boolean;

  constructor(message: string, facts: EngineErrorFacts) {
    super(message, { class: classes[facts.code], reason: "EngineCallFailed", cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.type = facts.type;
    this.mayHaveActed = facts.mayHaveActed ?? true;
  }
}

/** Of what several nodes failed with: the last response of an engine, or else the last failure. Undefined when none was queried. */
export function mostTelling(failures: readonly EngineError[]): EngineError | undefined {
  return failures.findLast(({ status }) => status !== undefined) ?? failures.at(-1);
}

/** The error of a call without a node. */
export function noPod(call: EngineCall): EngineError {
  return new EngineError(`${call}: there is no pod to query`, { code: "unreachable", mayHaveActed: false });
}
