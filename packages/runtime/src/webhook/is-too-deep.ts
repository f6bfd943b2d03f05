/**
 * Whether JSON text is nested more than `limit` levels. One walk over the bytes, before anything parses them; of text that is
 * not JSON it may say anything.
 */
export function isTooDeep(text: Uint8Array, limit: number): boolean {
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
