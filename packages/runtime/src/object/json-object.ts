import { isRawNumber } from "./raw-number.ts";

/** An object of foreign JSON. Its keys are anybody's: read them with `fieldOf`, never by plain access. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is a JSON object: neither a list, nor null, nor a number kept as digits. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** An own field of a JSON object; undefined when it has none of this name, or is no object at all. */
export function fieldOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The field as text; undefined when it is absent or something else. */
export function textOf(value: unknown, key: string): string | undefined {
  const text = fieldOf(value, key);
  return typeof text === "string" ? text : undefined;
}

/** The field as a list; empty when it is absent or something else. */
export function listOf(value: unknown, key: string): readonly unknown[] {
  const list = fieldOf(value, key);
  return Array.isArray(list) ? list : [];
}

/** The object without some of its fields; the rest stays as it was, in the same order. */
export function withoutFields(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.has(key)));
}

/** The keys that a JSON pointer (RFC 6901) leads along; none for the empty pointer, which means the whole. */
export function pointerKeys(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A key as written in a JSON pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
