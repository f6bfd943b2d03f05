/**
 * Levels that an object may have. Far beyond what anybody writes (a large CRD has about 60), far below where recursive code
 * overflows the stack (about 5,000); the API server itself stores 10,000.
 */
const depthLimit = 1_000;

/** Whether JSON text has enough brackets to be too deep at all: a cheap check that spares most objects the real count. */
export function mayBeDeeperThan(text: string, limit = depthLimit): boolean {
  if (text.length < 2 * limit) return false;
  let left = limit;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/** Whether a value has more levels of objects and lists than the limit. Recursion ends there, so it is safe for any input. */
export function isDeeperThan(value: unknown, limit = depthLimit): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  for (const child of Object.values(value)) if (isDeeperThan(child, limit - 1)) return true;
  return false;
}

/**
 * Whether JSON text is nested more than `limit` levels. One walk over the bytes, before anything parses them; of text that is
 * not JSON it may say anything.
 */
export function isTextDeeperThan(text: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Bytes of a multi-byte character are all above 0x7f, so that none is taken for a quote. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}
