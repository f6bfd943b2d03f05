import { parseExactly } from "./parse-exactly.ts";
import { writeDeep } from "./write-deep.ts";

/**
 * Reads JSON and keeps everything: every key is an own property, `__proto__` too, and a number that a double would change
 * becomes a `RawNumber`. Throws a SyntaxError for broken text.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return suspectNumber.test(text) ? parseExactly(text) : value;
}

/** Writes JSON at any depth; `RawNumber`s digit for digit. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The built-in writer is recursive and gives up near 5,000 levels; the API server stores up to 10,000.
    if (error instanceof RangeError) return writeDeep(value);
    throw error;
  }
}

/**
 * At least 16 digits, or an exponent of three: only such a number can change in a double. Looking for one costs a tenth of
 * the parsing, reading exactly several times as much, hence this order. A match inside a string does no harm.
 */
const suspectNumber = /(?:^|[:,[])\s*-?(?:[\d.]{16,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d{3,})(?:[\s,}\]]|$)/;
