import type { InvalidCause } from "../errors.ts";
import { parseJson } from "./json.ts";

/** What a `Status` answer of the API server says, as far as we use it. */
export interface StatusReport {
  readonly reason?: string;
  readonly message?: string;
  readonly causes: readonly InvalidCause[];
  readonly retryAfterSeconds?: number;
  /** Name of the object it is about; a 404 without it is about the kind. */
  readonly objectName?: string;
}

/** The Status in the text, or undefined when it is something else: a proxy's page, cut text. */
export function readStatus(text: string): StatusReport | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return statusOf(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The Status that a parsed answer or the object of an ERROR event is; undefined when it is none. */
export function statusOf(value: unknown): StatusReport | undefined {
  if (fieldOf(value, "kind") !== "Status") return undefined;
  const details = fieldOf(value, "details");
  const causes = fieldOf(details, "causes");
  const retryAfterSeconds = fieldOf(details, "retryAfterSeconds");
  return {
    ...textField("reason", fieldOf(value, "reason")),
    ...textField("message", fieldOf(value, "message")),
    ...textField("objectName", fieldOf(details, "name")),
    causes: Array.isArray(causes) ? causes.map(readCause) : [],
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
