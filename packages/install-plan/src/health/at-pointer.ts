import { fieldOf, pointerKeys } from "@quartermaster/runtime";

/** The value at a JSON pointer (RFC 6901), own fields only; undefined when there is none or the pointer is malformed. */
export function atPointer(value: unknown, pointer: string): unknown {
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  return pointerKeys(pointer).reduce<unknown>((part, key) => childOf(part, key), value);
}

function childOf(part: unknown, key: string): unknown {
  if (!Array.isArray(part)) return fieldOf(part, key);
  const items: readonly unknown[] = part;
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? items[Number(key)] : undefined;
}
