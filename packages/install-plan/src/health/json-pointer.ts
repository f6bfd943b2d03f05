import { fieldOf } from "../manifest/json-object.ts";

/** The value at a JSON pointer (RFC 6901), own fields only; undefined when there is none or the pointer is malformed. */
export function atPointer(value: unknown, pointer: string): unknown {
  if (pointer === "") return value;
  if (!pointer.startsWith("/")) return undefined;
  const keys = pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.reduce<unknown>((part, key) => childOf(part, key), value);
}

function childOf(part: unknown, key: string): unknown {
  if (!Array.isArray(part)) return fieldOf(part, key);
  const items: readonly unknown[] = part;
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? items[Number(key)] : undefined;
}
