import { exactNumber } from "../object/raw-number.ts";

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

/** What one object's or list's text is made of. White space, commas and colons carry nothing in well-formed text. */
const token =
  /[\s,:]*(?:(?<open>[{[])|(?<close>[}\]])|(?<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?<number>[-\d][\d.eE+-]*)|(?<word>[a-z]+))/y;

type Groups = Readonly<Record<string, string | undefined>>;

function take(stack: Holder[], { open, close, string, number, word }: Groups): void {
  const holder = stack.at(-1);
  if (close !== undefined) stack.pop();
  else if (string !== undefined) holder?.takeString(unquote(string));
  else if (number !== undefined) holder?.put(exactNumber(number));
  else if (open === undefined) holder?.put(words.get(word));
  else {
    const inner = open === "[" ? [] : {};
    holder?.put(inner);
    stack.push(new Holder(inner));
  }
}

const words = new Map<string | undefined, boolean | null>([
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
