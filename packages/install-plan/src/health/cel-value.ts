import type { CelInput } from "@bufbuild/cel";
import { isJsonObject, isRawNumber } from "@quartermaster/runtime";

/** JSON as CEL sees it in the API server: whole numbers are ints, objects are maps, so no key reaches a prototype. */
export function celValueOf(value: unknown): CelInput {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (isRawNumber(value))
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  if (Array.isArray(value)) return value.map((item) => celValueOf(item));
  if (!isJsonObject(value)) return null;
  return new Map(Object.entries(value).map(([key, item]) => [key, celValueOf(item)]));
}
