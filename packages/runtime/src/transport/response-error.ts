import { ApiError, type ApiErrorFacts, type ErrorClass, type InvalidCause } from "../errors.ts";
import { type ApiRequest, describeRequest, isSensitive } from "./api-request.ts";
import type { HttpResponse } from "./exchange.ts";
import { tryParseJson } from "./parse-json.ts";
import {
  isTypedPatchFailure,
  quietTypedPatchCause,
  schemaMismatch,
  typedPatchCauses,
} from "./typed-patch-causes.ts";

/** The error that a response other than 2xx means. */
export function responseError(request: ApiRequest, response: HttpResponse, wallMs: number): ApiError {
  const report = readStatus(response.text);
  if (report === undefined && isPage(response)) return pageError(request, response);
  const retryAfterMs = retryAfterMsOf(response.retryAfter, report?.retryAfterSeconds, wallMs);
  const errorClass = classOfResponse(response.status, report);
  const reason = reasonOf(errorClass, report);
  return new ApiError(`${describeRequest(request)}: ${response.status}${saying(request, report)}`, {
    class: errorClass,
    status: response.status,
    reason,
    causes: isSensitive(request.path) ? quietCauses(report) : (report?.causes ?? []),
    ...subjectOf(report),
    retryAfterMs,
    mayHaveActed: mayHaveActed(
      response.status,
      errorClass,
      retryAfterMs !== undefined && report !== undefined,
    ),
  });
}

function subjectOf({ objectKind, objectName }: Partial<StatusReport> = {}): Pick<ApiErrorFacts, "subject"> {
  if (objectKind === undefined || objectName === undefined) return {};
  return { subject: { resource: objectKind, name: objectName } };
}

/**
 * Whether a proxy on the way said it. The API server gives a Status, or plain text for what it does not serve: a gateway's own
 * 404 would otherwise mean that every object of the kind no longer exists.
 */
function isPage({ status, contentType }: HttpResponse): boolean {
  return statedByServer.has(status) && !contentType.startsWith("text/plain");
}

function pageError(request: ApiRequest, { status }: HttpResponse): ApiError {
  const reason = "NotFromTheServer";
  const facts = { class: "transient", status, reason, mayHaveActed: true } as const;
  return new ApiError(`${describeRequest(request)}: ${status} ${reason}`, facts);
}

/** Statuses about objects, which only the API server knows. */
const statedByServer = new Set([400, 404, 409, 410, 422]);

/** Error class of an HTTP status together with the server's report. Also for the Status inside a watch's ERROR event. */
export function classOfResponse(status: number, report: StatusReport | undefined): ErrorClass {
  if (status === 409) return report?.reason === "AlreadyExists" ? "alreadyExists" : "conflict";
  if (status === 504 && !isVersionTooLarge(report)) return "timeout";
  if (status >= 500) return classOfProblem(report);
  return classesByStatus.get(status) ?? "bug";
}

const classesByStatus = new Map<number, ErrorClass>([
  [400, "invalid"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "notFound"],
  [408, "timeout"],
  [410, "gone"],
  [413, "tooLarge"],
  [422, "invalid"],
  [429, "tooManyRequests"],
]);

/** Errors that the server reports as internal and are not, where only the text says so. */
function classOfProblem(report: StatusReport | undefined): ErrorClass {
  const message = report?.message ?? "";
  // etcd's limit and gRPC's.
  if (/request is too large|trying to send message larger than max/.test(message)) return "tooLarge";
  return isTypedPatchFailure(message) ? "invalid" : "transient";
}

function isVersionTooLarge(report: StatusReport | undefined): boolean {
  return report?.causes.some(({ reason }) => reason === versionTooLarge) ?? false;
}

const versionTooLarge = "ResourceVersionTooLarge";

/** Reason of a `notFound` that is about the kind, not about an object: the server does not serve it. */
export const kindNotServed = "KindNotServed";

function reasonOf(errorClass: ErrorClass, report: StatusReport | undefined): string | undefined {
  if (errorClass === "notFound" && report?.objectName === undefined) return kindNotServed;
  return isVersionTooLarge(report) ? versionTooLarge : report?.reason;
}

/** A refusal means that nothing was done; so does "later" when the API server itself says it. */
function mayHaveActed(status: number, errorClass: ErrorClass, isRequestedToWait: boolean): boolean {
  if (status === 408) return true;
  if (status < 500 || errorClass === "tooLarge" || errorClass === "invalid") return false;
  return !(status === 503 && isRequestedToWait);
}

const messageLimit = 1_024;

/** The server's message; of objects that hold credentials only which fields are wrong, because it quotes their values. */
function saying({ path }: ApiRequest, report: StatusReport | undefined): string {
  if (report === undefined) return "";
  if (!isSensitive(path)) return ` ${(report.message ?? report.reason ?? "").slice(0, messageLimit)}`;
  const fields = quietCauses(report).map(({ field, reason }) => `${field} ${reason}`.trim());
  return ` ${[report.reason ?? "refused", ...fields].join(", ").slice(0, messageLimit)}`;
}

function quietCauses(report: StatusReport | undefined): readonly InvalidCause[] {
  return (report?.causes ?? []).map((cause) =>
    cause.reason === schemaMismatch
      ? quietTypedPatchCause(cause)
      : { field: cause.field, reason: cause.reason, message: "" },
  );
}

export interface StatusReport {
  readonly reason?: string;
  readonly message?: string;
  readonly causes: readonly InvalidCause[];
  readonly retryAfterSeconds?: number;
  /** Plural name of the resource it is about; in some responses the kind. */
  readonly objectKind?: string;
  /** Name of the object it is about; a 404 without it is about the kind. */
  readonly objectName?: string;
}

/** The Status in the text, or undefined when it is something else: a proxy's page, cut text. */
export function readStatus(text: string): StatusReport | undefined {
  return text.startsWith("{") ? statusOf(tryParseJson(text)?.value) : undefined;
}

/** The Status in a parsed response or in the object of an ERROR event; undefined when it is none. */
export function statusOf(value: unknown): StatusReport | undefined {
  if (fieldOf(value, "kind") !== "Status") return undefined;
  const details = fieldOf(value, "details");
  const causes = fieldOf(details, "causes");
  const retryAfterSeconds = fieldOf(details, "retryAfterSeconds");
  const listed = Array.isArray(causes) ? causes.map(readCause) : [];
  return {
    ...textField("reason", fieldOf(value, "reason")),
    ...textField("message", fieldOf(value, "message")),
    ...textField("objectKind", fieldOf(details, "kind")),
    ...textField("objectName", fieldOf(details, "name")),
    causes: listed.length > 0 ? listed : typedPatchCauses(textOf(fieldOf(value, "message"))),
    ...(typeof retryAfterSeconds === "number" ? { retryAfterSeconds } : {}),
  };
}

function readCause(cause: unknown): InvalidCause {
  return {
    field: textOf(fieldOf(cause, "field")),
    reason: textOf(fieldOf(cause, "reason")),
    message: textOf(fieldOf(cause, "message")),
  };
}

/** An own field of a foreign value; undefined when there is no such thing. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textField<N extends string>(name: N, value: unknown): { readonly [K in N]?: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key widens to string
  return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as {
    readonly [K in N]?: string;
  };
}

/** A server that requests more is not believed. */
const longestMs = 60_000;

/** The delay that `Retry-After` (seconds or a date) or the Status requests, bounded; undefined when there is none. */
export function retryAfterMsOf(
  header: string | undefined,
  statusSeconds: number | undefined,
  wallMs: number,
): number | undefined {
  const requestedMs =
    headerMs(header, wallMs) ?? (statusSeconds === undefined ? undefined : statusSeconds * 1_000);
  if (requestedMs === undefined || Number.isNaN(requestedMs)) return undefined;
  return Math.min(Math.max(requestedMs, 0), longestMs);
}

function headerMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : dateMs - wallMs;
}
