import { fieldOf, isTextDeeperThan, listOf, parseJson, printable, textOf } from "@quartermaster/runtime";
import { z } from "zod";

import type { EngineCall } from "./engine-client.ts";
import { EngineError, type EngineErrorCode } from "./engine-error.ts";

/** A response with a status that the call accepts. */
export interface EngineResponse {
  readonly status: number;
  /** The decoded body; undefined where there is none. */
  readonly value: unknown;
}

export interface RawResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface ResponseRules {
  /** The query and its target, e.g. `health on node os-a-0`; begins every message. */
  readonly what: string;
  /** Statuses besides 2xx that carry a fact. */
  readonly accepts: readonly number[];
  /** True: the engine may quote what we sent, and that is secret; its words stay out of the error. */
  readonly isSecret: boolean;
  /** Takes our own credentials out of the engine's words. */
  readonly redact: (text: string) => string;
}

/** Levels of nesting that a response may have. */
const depthLimit = 64;

/** Characters of the engine's words that reach an error. */
const reasonLimit = 300;

/** Reads the status first, then decodes. Throws an `EngineError` for every response that gives no fact. */
export function readResponse(response: RawResponse, rules: ResponseRules): EngineResponse {
  const { status } = response;
  const isFact = (status >= 200 && status < 300) || rules.accepts.includes(status);
  if (!isFact) throw refusal(response, rules);
  if (response.body.length === 0) return { status, value: undefined };
  const decoded = decode(response);
  if ("problem" in decoded) throw unreadable(rules.what, decoded.problem, status);
  return { status, value: decoded.value };
}

/** The error for a response that is not what the API promises. */
export function unreadable(what: string, problem: string, status?: number): EngineError {
  return new EngineError(`${what}: ${problem}`, {
    code: "unreadable",
    status,
  });
}

function decode({
  contentType,
  body,
}: RawResponse): { readonly value: unknown } | { readonly problem: string } {
  if (!/^application\/(?:[\w.+-]*\+)?json\b/i.test(contentType))
    return { problem: "the response is not JSON" };
  if (isTextDeeperThan(body, depthLimit)) return { problem: "the response is nested too deeply" };
  try {
    return { value: parseJson(new TextDecoder().decode(body)) };
  } catch (error) {
    // Not attached as cause: it quotes the text.
    if (error instanceof SyntaxError) return { problem: "the response is not JSON" };
    throw error;
  }
}

function refusal(response: RawResponse, { what, isSecret, redact }: ResponseRules): EngineError {
  const { status } = response;
  const decoded = decode(response);
  const value = "value" in decoded ? decoded.value : undefined;
  const type = typeOf(value);
  const terms = isSecret ? "" : redact(reasonOf(value));
  const parts = [type, bounded(terms)].filter((part) => part !== undefined && part !== "");
  const detail = parts.length === 0 ? "" : ` (${parts.join(": ")})`;
  return new EngineError(`${what}: HTTP ${status}${detail}`, {
    code: codeOf(status, { type, value }),
    status,
    type,
  });
}

function codeOf(
  status: number,
  { type, value }: { readonly type: string | undefined; readonly value: unknown },
): EngineErrorCode {
  if (status === 403 && isLicenseExpired(value)) return "licenseExpired";
  if (status >= 500 && type !== undefined && timeoutTypes.has(type)) return "timeout";
  const known = codes.get(status);
  if (known !== undefined) return known;
  if (status >= 500) return "unavailable";
  return status >= 400 ? "invalid" : "unreadable";
}

const codes: ReadonlyMap<number, EngineErrorCode> = new Map([
  [401, "forbidden"],
  [403, "forbidden"],
  [404, "notFound"],
  [405, "unsupported"],
  [408, "timeout"],
  [409, "conflict"],
  [429, "unavailable"],
  [504, "timeout"],
]);

const timeoutTypes = new Set(["timeout_exception", "process_cluster_event_timeout_exception"]);

/** Elasticsearch names the feature that its license no longer covers. */
function isLicenseExpired(value: unknown): boolean {
  const error = fieldOf(value, "error");
  const causes = [error, ...listOf(error, "root_cause")];
  return causes.some((cause) => fieldOf(cause, "license.expired.feature") !== undefined);
}

function typeOf(value: unknown): string | undefined {
  const type = textOf(fieldOf(value, "error"), "type");
  return type !== undefined && /^[a-z][a-z_]{0,79}$/.test(type) ? type : undefined;
}

/** The engine's and the security plugin's ways to say why. */
function reasonOf(value: unknown): string {
  const error = fieldOf(value, "error");
  if (typeof error === "string") return error;
  return textOf(error, "reason") ?? textOf(value, "message") ?? textOf(value, "reason") ?? "";
}

/** Words of the engine as people may read them: printable, and not for ever. */
export function bounded(text: string, limit: number = reasonLimit): string {
  const clean = printable(text.slice(0, 4 * limit));
  return clean.length > limit ? `${clean.slice(0, limit)}…` : clean;
}

/** Reads what the API promises; throws `unreadable` with the first field that is not so. */
export function parseShape<T>(shape: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const path = printable(issue?.path.map(String).join(".") ?? "");
  throw unreadable(what, `field "${path.slice(0, 100)}" is not what the API promises`);
}

const acknowledgedShape = z.object({ acknowledged: z.boolean() });

/** HTTP 200 is not success: an engine that gives up waiting for its nodes responds with `acknowledged: false`. */
export function assertAcknowledged(call: EngineCall, value: unknown): void {
  if (parseShape(acknowledgedShape, value, call).acknowledged) return;
  throw new EngineError(`${call}: not every node has taken it in time`, { code: "timeout" });
}
