import type { Message } from "./forwarder.ts";

/** Identity and version that a write demands of the object it meets. */
export interface Preconditions {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Reads them from the body of a delete, a replacement or a merge patch; a body of another form has none. */
export function preconditionsOf(method: string, body: string): Preconditions {
  const parsed = parseObject(body);
  const source = method === "DELETE" ? parsed["preconditions"] : parsed["metadata"];
  const { uid, resourceVersion } = asObject(source);
  return {
    uid: typeof uid === "string" ? uid : undefined,
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : undefined,
  };
}

/** The same request without the named preconditions: it meets whatever object has the name now. */
export function withoutPreconditions(message: Message, names: readonly (keyof Preconditions)[]): Message {
  const parsed = parseObject(message.body.toString("utf8"));
  const location = message.method === "DELETE" ? "preconditions" : "metadata";
  const demands = Object.entries(asObject(parsed[location]));
  const isNamed = ([name]: readonly [string, unknown]): boolean => names.some((each) => each === name);
  if (!demands.some(isNamed)) return message;
  const kept = Object.fromEntries(demands.filter((demand) => !isNamed(demand)));
  const body = Buffer.from(JSON.stringify({ ...parsed, [location]: kept }));
  return { ...message, body, headers: { ...message.headers, "content-length": String(body.length) } };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}
