/**
 * The text of a watch event without its object's `metadata.managedFields`. Cutting before the parse is cheaper than parsing
 * what is thrown away. Text that is not written as the API server writes it comes back unchanged.
 */
export function cutManagedFields(text: string): string {
  const start = text.indexOf(member);
  if (start === -1 || !isInMetadata(text, start)) return text;
  const end = endOfList(text, start + member.length);
  if (end === -1) return text;
  if (text.charCodeAt(start - 1) === comma) return text.slice(0, start - 1) + text.slice(end);
  return text.slice(0, start) + text.slice(text.charCodeAt(end) === comma ? end + 1 : end);
}

/** Unescaped quotes make it a real key: inside a string they would be escaped. Whose key it is must be found out. */
const member = '"managedFields":[';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;

/** Whether the place is directly within `object.metadata`: a custom resource may have a field of that name elsewhere. */
function isInMetadata(text: string, place: number): boolean {
  const path = ["", "", ""];
  let depth = 0;
  for (let at = 0; at < place; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (depth <= 2 && text.charCodeAt(end + 1) === colon) path[depth] = text.slice(at + 1, end);
      at = end;
    } else depth += step(code);
  }
  return depth === 3 && path[1] === "object" && path[2] === "metadata";
}

/** Index behind the list whose opening bracket ends at `from`; -1 when the text ends first. */
function endOfList(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else depth += step(code);
    if (depth === 0) return at + 1;
  }
  return -1;
}

/** Index of the quote that closes the string opened at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    if (!isEscaped(text, at)) return at;
  }
  return text.length;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** One level down for an opening bracket, one up for a closing one: `[` `{` and `]` `}` differ in these bits only. */
function step(code: number): number {
  const folded = code | 0x20;
  if (folded === 0x7b) return 1;
  return folded === 0x7d ? -1 : 0;
}
