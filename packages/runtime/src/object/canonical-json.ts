import { createHash } from "node:crypto";

import { isRawNumber } from "./raw-number.ts";

/**
 * The one text of a JSON value: keys sorted by code unit, no white space, own keys only, numbers beyond a double digit for
 * digit. Fields that are undefined count as absent. Works without recursion, because the API server stores 10,000 levels.
 */
export function canonicalJson(value: unknown): string {
  let text = "";
  for (const part of partsOf(value)) text += part;
  return text;
}

/** SHA-256 of the canonical JSON, in hex. The whole text of a large value never exists. */
export function digestOf(value: unknown): string {
  const hash = createHash("sha256");
  let text = "";
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < hashedAtOnce) continue;
    hash.update(text);
    text = "";
  }
  return hash.update(text).digest("hex");
}

const hashedAtOnce = 2 ** 16;

function* partsOf(value: unknown): Generator<string> {
  if (!isContainer(value)) {
    yield writePlain(value);
    return;
  }
  const open = [new Container(value)];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    yield top.writeUpToContainer();
    if (top.inner === undefined) open.pop();
    else open.push(new Container(top.inner));
  }
}

/** An object or list that is being written. */
class Container {
  readonly #container: object;
  /** Undefined for a list. */
  readonly #keys: readonly string[] | undefined;
  readonly #size: number;
  #at = 0;
  /** The object or list where writing has stopped; undefined once all is written. */
  inner: object | undefined;

  constructor(container: object) {
    this.#container = container;
    this.#keys = Array.isArray(container) ? undefined : sortedKeys(container);
    this.#size = Array.isArray(container) ? container.length : (this.#keys?.length ?? 0);
  }

  /** The text from where it stopped to the next object or list within, or to the end. */
  writeUpToContainer(): string {
    let text = this.#at === 0 ? this.#opening : "";
    this.inner = undefined;
    while (this.#at < this.#size) {
      const key = this.#keys?.[this.#at];
      const value: unknown = Reflect.get(this.#container, key ?? this.#at);
      text += `${this.#at === 0 ? "" : ","}${key === undefined ? "" : `${JSON.stringify(key)}:`}`;
      this.#at += 1;
      if (isContainer(value)) {
        this.inner = value;
        return text;
      }
      text += writePlain(value);
    }
    return text + (this.#keys === undefined ? "]" : "}");
  }

  get #opening(): string {
    return this.#keys === undefined ? "[" : "{";
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isRawNumber(value);
}

function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object).filter((key) => Reflect.get(object, key) !== undefined);
  // oxlint-disable-next-line unicorn/no-array-sort -- made here; the default order is by code unit
  return keys.sort();
}

/** Values that JSON does not know are null in lists and omitted in objects. */
function writePlain(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}
