/** Class of an error, as far as it changes what to do next. */
export type ErrorClass =
  | "notFound"
  | "alreadyExists"
  | "conflict"
  | "invalid"
  | "forbidden"
  | "unauthorized"
  | "tooLarge"
  | "gone"
  | "tooManyRequests"
  | "transient"
  | "timeout"
  | "aborted"
  | "bug";

/** One fault of a refused object, as the API server lists it. */
export interface InvalidCause {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/** Subject of an error by the server; e.g. the missing namespace when an object in it cannot be created. */
export interface ErrorSubject {
  /** Plural name of the resource. */
  readonly resource: string;
  readonly name: string;
}

/** Facts about a failed request. */
export interface ApiErrorFacts {
  readonly class: ErrorClass;
  /** HTTP status, or undefined when no response came. */
  readonly status?: number | undefined;
  /** `reason` of the server's Status, e.g. `Conflict`. */
  readonly reason?: string | undefined;
  readonly causes?: readonly InvalidCause[] | undefined;
  readonly subject?: ErrorSubject | undefined;
  /** The delay that the server requested, already bounded. */
  readonly retryAfterMs?: number | undefined;
  /** False only when the server cannot have acted on the request; a write is then safe to repeat. */
  readonly mayHaveActed: boolean;
  readonly cause?: unknown;
}

/**
 * A request to the API server that did not succeed. Decide by `class`, never by text. The message names verb and object and
 * holds no body: bodies carry secrets.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly class: ErrorClass;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly InvalidCause[];
  readonly subject: ErrorSubject | undefined;
  readonly retryAfterMs: number | undefined;
  readonly mayHaveActed: boolean;

  constructor(message: string, facts: ApiErrorFacts) {
    super(message, { cause: facts.cause });
    this.class = facts.class;
    this.status = facts.status;
    this.reason = facts.reason;
    this.causes = facts.causes ?? [];
    this.subject = facts.subject;
    this.retryAfterMs = facts.retryAfterMs;
    this.mayHaveActed = facts.mayHaveActed;
  }
}

/** The one classification: an ApiError says it itself, an abort is an abort, anything else is our own fault. */
export function classify(error: unknown): ErrorClass {
  if (error instanceof ApiError) return error.class;
  if (error instanceof ExternalError) return externalClasses[error.class];
  if (error instanceof Error && error.name === "AbortError") return "aborted";
  if (error instanceof Error && error.name === "TimeoutError") return "timeout";
  return "bug";
}

const externalClasses = { transient: "transient", refused: "forbidden", invalid: "invalid" } as const;

/** Class of a failure of a system other than the API server. */
export type ExternalErrorClass =
  /** It may pass on its own: no connection, a timeout, an overload. Retried with back-off, not shown immediately. */
  | "transient"
  /** It refused us: credentials, permissions. Shown, and retried with back-off. */
  | "refused"
  /** It cannot do what the spec requests. Shown as stalled; a change of the spec is needed. */
  | "invalid";

/** Facts about a failure of a system other than the API server. */
export interface ExternalErrorFacts {
  readonly class: ExternalErrorClass;
  /** CamelCase, from the domain's closed list. */
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A failure of a system that is not Kubernetes, e.g. a database that the operator calls. Never counts as a fault of the operator.
 * Reason and message are shown to users: no credentials, no bodies.
 */
export class ExternalError extends Error {
  override readonly name = "ExternalError";
  readonly class: ExternalErrorClass;
  /** CamelCase, from the domain's closed list. */
  readonly reason: string;
  /** An `invalid` one may be over after so long although no event announces it (default: only a change of the spec ends it). */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ExternalErrorFacts) {
    super(message, { cause: facts.cause });
    this.class = facts.class;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

export type ConfigErrorCode =
  | "configNotFound"
  | "configUnreadable"
  | "configNotYaml"
  | "configInvalid"
  | "configMissingEntry"
  | "configUnsupported"
  | "configInsecure"
  | "credentialPluginFailed";

/** Where the fault is. */
export interface ConfigProblem {
  readonly code: ConfigErrorCode;
  /** The file that has to be looked at. */
  readonly file?: string | undefined;
  /** Path of the field, e.g. `users[0].user.exec.command`. */
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/** A configuration that cannot be used. The message names file and field and never a credential. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code: ConfigErrorCode;
  readonly file: string | undefined;
  readonly field: string | undefined;

  constructor(problem: string, { code, file, field, cause }: ConfigProblem) {
    super([file, field, problem].filter((part) => part !== undefined).join(": "), { cause });
    this.code = code;
    this.file = file;
    this.field = field;
  }
}

/** A schema of ours says something that a CustomResourceDefinition cannot; found when CRDs are generated. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  /** Path of the field. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}
