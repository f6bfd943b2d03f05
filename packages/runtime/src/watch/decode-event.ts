import { ApiError } from "../errors.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { classOfAnswer } from "../transport/answer-error.ts";
import { parseJson } from "../transport/json.ts";
import { statusOf } from "../transport/status.ts";
import { cutManagedFields } from "./cut-managed-fields.ts";
import { isDeeperThan, mayBeDeeperThan } from "./depth-limit.ts";

/** One event of a watch, as far as its reader must distinguish them. */
export type WatchEvent =
  | { readonly kind: "changed"; readonly object: KubeObject }
  | { readonly kind: "deleted"; readonly object: KubeObject }
  /** Nested too deeply to be worked with; only its metadata is safe to use. */
  | { readonly kind: "tooDeep"; readonly object: KubeObject }
  | { readonly kind: "bookmark"; readonly resourceVersion: string; readonly endsInitial: boolean }
  | { readonly kind: "error"; readonly error: ApiError };

/** What the reader wants to have decoded. */
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

/** Of an object that is gone its metadata will do, however deep it was. */
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

/** The Status inside an ERROR event says what an HTTP status would have said. */
function watchError(status: object, kindName: string): ApiError {
  const report = statusOf(status);
  const code: unknown = "code" in status ? status.code : undefined;
  const httpStatus = typeof code === "number" ? code : 500;
  const tooLarge = report?.causes.find(({ reason }) => reason === "ResourceVersionTooLarge");
  const reason = tooLarge?.reason ?? report?.reason;
  return new ApiError(`watch ${kindName}: ${httpStatus} ${report?.message ?? ""}`, {
    class: classOfAnswer(httpStatus, report),
    status: httpStatus,
    ...(reason === undefined ? {} : { reason }),
    mayHaveActed: false,
  });
}
