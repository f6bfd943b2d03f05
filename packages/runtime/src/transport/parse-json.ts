import { exactNumber, isRawNumber } from "../object/raw-number.ts";

/**
 * Reads JSON and keeps everything: every key is an own property, `__proto__` too, and a number that a double would change
 * becomes a `RawNumber`. Throws a SyntaxError for broken text.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === "number" || suspectNumber.test(text) ? parseExactly(text) : value;
}

/** The same; undefined for broken text. */
export function tryParseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
 * At least 16 digits, or an exponent of three: only such a number can change in a double. Looking for one costs a sixth of
 * the parsing, reading exactly several times as much, hence this order. A match inside a string does no harm. A text that is nothing
 * but a number is not looked for: a beginning that may be that of the text makes the pattern three times as slow.
 */
const suspectNumber = /[:,[]\s*-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d{3,})(?:[\s,}\]]|$)/;

/**
 * Reads JSON text that is known to be well formed, at any depth, and keeps numbers that a double cannot hold as `RawNumber`.
 * An own reader, because `JSON.parse` with a reviver overflows the stack near 3,000 levels.
 */
export function parseExactly(text: string): unknown {
  const root = new Holder([]);
  const stack = [root];
  const tokens = new RegExp(token);
  for (let match = tokens.exec(text); match?.groups !== undefined; match = tokens.exec(text)) {
    take(stack, match.groups);
  }
  return root.first;
}

/** Tokens of the text of an object or a list. White space, commas and colons carry nothing in well-formed text. */
const token =
  /[\s,:]*(?:(?<open>[{[])|(?<close>[}\]])|(?<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?<number>[-\d][\d.eE+-]*)|(?<word>[a-z]+))/y;

type Groups = Readonly<Record<string, string | undefined>>;

function take(stack: Holder[], { open, close, string, number, word }: Groups): void {
  const holder = stack.at(-1);
  if (close !== undefined) stack.pop();
  else if (string !== undefined) holder?.takeString(unquote(string));
  else if (number !== undefined) holder?.put(exactNumber(number));
  else if (open === undefined) holder?.put(names.get(word));
  else {
    const inner = open === "[" ? [] : {};
    holder?.put(inner);
    stack.push(new Holder(inner));
  }
}

const names = new Map<string | undefined, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function unquote(quoted: string): string {
  return quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

/** An object or list that is being filled. */
class Holder {
  readonly #container: unknown[] | Record<string, unknown>;
  #key: string | undefined;

  constructor(container: unknown[] | Record<string, unknown>) {
    this.#container = container;
  }

  get first(): unknown {
    return Array.isArray(this.#container) ? this.#container[0] : undefined;
  }

  /** In an object the first of two strings is the key of what comes next. */
  takeString(string: string): void {
    if (Array.isArray(this.#container) || this.#key !== undefined) this.put(string);
    else this.#key = string;
  }

  put(value: unknown): void {
    if (Array.isArray(this.#container)) this.#container.push(value);
    else if (this.#key === "__proto__") defineProto(this.#container, value);
    else if (this.#key !== undefined) this.#container[this.#key] = value;
    this.#key = undefined;
  }
}

/** Plain assignment would set the prototype instead of a property. */
function defineProto(container: object, value: unknown): void {
  const open = { writable: true, enumerable: true, configurable: true };
  Object.defineProperty(container, "__proto__", { ...open, value });
}

/** Writes JSON without recursion, for values nested deeper than `JSON.stringify` goes. Same text for the same value. */
export function writeDeep(value: unknown): string {
  const parts: string[] = [];
  const work: Step[] = [{ value }];
  for (let step = work.pop(); step !== undefined; step = work.pop()) {
    if ("text" in step) parts.push(step.text);
    else writeOne(step.value, parts, work);
  }
  return parts.join("");
}

/** Ready text, or a value still to be written. */
type Step = { readonly text: string } | { readonly value: unknown };

function writeOne(value: unknown, parts: string[], work: Step[]): void {
  if (typeof value !== "object" || value === null || isRawNumber(value)) {
    parts.push(isWritable(value) ? JSON.stringify(value) : "null");
  } else if (Array.isArray(value)) writeList(value, parts, work);
  else writeObject(value, parts, work);
}

function writeList(list: readonly unknown[], parts: string[], work: Step[]): void {
  parts.push("[");
  work.push({ text: "]" });
  for (let index = list.length - 1; index >= 0; index -= 1) {
    work.push({ value: list[index] });
    if (index > 0) work.push({ text: "," });
  }
}

function writeObject(object: object, parts: string[], work: Step[]): void {
  const entries = Object.entries(object).filter(([, value]) => isWritable(value));
  parts.push("{");
  work.push({ text: "}" });
  for (const [index, [key, value]] of [...entries.entries()].toReversed()) {
    work.push({ value }, { text: `${index > 0 ? "," : ""}${JSON.stringify(key)}:` });
  }
}

/** Values that JSON does not know are omitted in objects and null in lists, as the built-in writer does. */
function isWritable(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
