import { ApiError } from "../errors.ts";
import { isDeeperThan, mayBeDeeperThan } from "../object/is-deeper-than.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { parseJson } from "../transport/parse-json.ts";
import { classOfResponse, statusOf } from "../transport/response-error.ts";

/** One event of a watch, as far as its reader must distinguish them. */
export type WatchEvent =
  | { readonly kind: "changed"; readonly object: KubeObject }
  | { readonly kind: "deleted"; readonly object: KubeObject }
  /** Nested too deeply to be worked with; only its metadata is safe to use. */
  | { readonly kind: "tooDeep"; readonly object: KubeObject }
  | { readonly kind: "bookmark"; readonly resourceVersion: string; readonly endsInitial: boolean }
  | { readonly kind: "error"; readonly error: ApiError };

export interface DecodeOptions {
  readonly keepManagedFields: boolean;
  /** For messages. */
  readonly kindName: string;
}

/** The stream does not hold what a watch must hold. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Reads one frame. Throws DecodeError; its message never quotes the frame, which may be a Secret. */
export function decodeEvent(frame: string, options: DecodeOptions): WatchEvent {
  const text = options.keepManagedFields ? frame : cutManagedFields(frame);
  const { type, object } = parseFrame(text);
  if (type === "BOOKMARK") return bookmarkOf(object);
  if (type === "ERROR") return { kind: "error", error: watchError(object, options.kindName) };
  const content = options.keepManagedFields ? object : withoutManagedFields(object);
  if (mayBeDeeperThan(text) && isDeeperThan(content)) return deepEvent(type, content);
  if (type === "ADDED" || type === "MODIFIED") return { kind: "changed", object: content };
  if (type === "DELETED") return { kind: "deleted", object: content };
  throw new DecodeError("a watch event of unknown type");
}

/** Of an object that no longer exists its metadata will do, however deep it was. */
function deepEvent(type: unknown, object: KubeObject): WatchEvent {
  const { apiVersion, kind, metadata } = object;
  if (type === "DELETED") return { kind: "deleted", object: { apiVersion, kind, metadata } };
  return { kind: "tooDeep", object };
}

/** The object without what the API server notes about its writers; the same object when there is nothing to drop. */
export function withoutManagedFields<O extends KubeObject>(object: O): O {
  if (!("managedFields" in object.metadata)) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The annotation of the bookmark that ends the initial events of a WatchList. */
const initialEventsEnd = "k8s.io/initial-events-end";

function parseFrame(text: string): { readonly type: unknown; readonly object: KubeObject } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new DecodeError("a watch event that is not JSON");
    throw error;
  }
  if (isFrame(value)) return value;
  throw new DecodeError("a watch event without an object");
}

function isFrame(value: unknown): value is { readonly type: unknown; readonly object: KubeObject } {
  if (typeof value !== "object" || value === null || !("type" in value) || !("object" in value)) return false;
  const { object } = value;
  if (typeof object !== "object" || object === null || !("metadata" in object)) return false;
  return typeof object.metadata === "object" && object.metadata !== null;
}

function bookmarkOf({ metadata }: KubeObject): WatchEvent {
  const { resourceVersion, annotations } = metadata;
  if (resourceVersion === undefined) throw new DecodeError("a bookmark without resourceVersion");
  return { kind: "bookmark", resourceVersion, endsInitial: annotations?.[initialEventsEnd] === "true" };
}

/** The Status inside an ERROR event stands for an HTTP status. */
function watchError(status: object, kindName: string): ApiError {
  const report = statusOf(status);
  const code: unknown = "code" in status ? status.code : undefined;
  const httpStatus = typeof code === "number" ? code : 500;
  const tooLarge = report?.causes.find(({ reason }) => reason === "ResourceVersionTooLarge");
  const reason = tooLarge?.reason ?? report?.reason;
  return new ApiError(`watch ${kindName}: ${httpStatus} ${report?.message ?? ""}`, {
    class: classOfResponse(httpStatus, report),
    status: httpStatus,
    reason,
    mayHaveActed: false,
  });
}

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
function isInMetadata(text: string, location: number): boolean {
  // Where the last keys of the first two levels begin. Cutting them out as strings would be most of the work.
  let outer = 0;
  let inner = 0;
  let depth = 0;
  for (let at = 0; at < location; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      const isKey = depth <= 2 && text.charCodeAt(end + 1) === colon;
      if (isKey && depth === 1) outer = at;
      if (isKey && depth === 2) inner = at;
      at = end;
    } else depth += step(code);
  }
  return depth === 3 && text.startsWith('"object":', outer) && text.startsWith('"metadata":', inner);
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

/** A frame beyond this is no object of a cluster: etcd holds 1.5 MiB, and escaping makes six times that at most. */
const frameLimitBytes = 32 * 1024 * 1024;

const newline = 10;

/** Cuts a stream of bytes into the lines it is made of, wherever the chunks happen to end: also within a character. */
export class FrameSplitter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /**
   * The whole frames that this chunk completes, oldest first; they have to be read to the end. One at a time: all of a chunk together
   * would outlive the young generation, and be copied twice before they are dropped. Throws a RangeError when one is beyond all measure.
   */
  *frames(chunk: Uint8Array): Generator<string, void> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const frame = this.#pendingBytes === 0 ? bytes.toString("utf8", start, end) : this.#join(bytes, end);
      start = end + 1;
      if (frame !== "") yield frame;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  /** Chunks are joined once, when the frame is whole: joining at each chunk would be quadratic. */
  #join(bytes: Uint8Array, end: number): string {
    const whole = Buffer.concat([...this.#pending, bytes.subarray(0, end)]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole.toString("utf8");
  }

  #keep(rest: Uint8Array): void {
    this.#pendingBytes += rest.length;
    if (this.#pendingBytes > frameLimitBytes) throw new RangeError("a frame exceeds 32 MiB");
    this.#pending.push(rest);
  }
}
