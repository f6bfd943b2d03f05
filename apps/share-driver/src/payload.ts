import type { Share } from "@quartermaster/api";
import type { Kind, KubeObject } from "@quartermaster/runtime";
import { type ConfigMap, configMaps, type Secret, secrets } from "@quartermaster/runtime/kinds";

import { Refusal } from "./refusal.ts";

/** The object behind a Share. */
export type BackingRef = Pick<Share["spec"]["backingResource"], "kind" | "namespace" | "name">;

/** Its kind. */
export function kindOf({ kind }: Pick<BackingRef, "kind">): Kind {
  return kind === "Secret" ? secrets : configMaps;
}

/** The files of one volume by name. */
export type Payload = ReadonlyMap<string, Buffer>;

/** Files that one Share contributes. */
export interface SharedFiles {
  readonly share: string;
  readonly files: readonly (readonly [name: string, bytes: Buffer])[];
}

/** Two of these fit into the file system of a volume: the old content is there until the new one is complete. */
export const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** Keys of one volume. */
export const MAX_KEYS = 4096;

/** The files of all shares in one directory. Throws a Refusal when two shares have the same key, or when it is too much. */
export function payloadOf(contributions: readonly SharedFiles[]): Payload {
  const files = new Map<string, Buffer>();
  const owners = new Map<string, string>();
  for (const { share, files: own } of contributions)
    for (const [key, bytes] of own) {
      assertFileName(share, key);
      const other = owners.get(key);
      if (other !== undefined)
        throw new Refusal(
          "KeyConflict",
          `key ${JSON.stringify(key)} is in Share "${other}" and in Share "${share}"`,
        );
      owners.set(key, share);
      files.set(key, bytes);
    }
  assertSize(files);
  return files;
}

/** The API server refuses such keys; what it lets through today may differ tomorrow, and a path is a path. */
function assertFileName(share: string, key: string): void {
  if (/^[-._a-zA-Z0-9]{1,253}$/.test(key) && !key.startsWith("..") && key !== ".") return;
  throw new Refusal("InvalidRequest", `a key of Share "${share}" is not a file name`);
}

/** Bytes of all files together. */
export function sizeOf(files: Payload): number {
  return [...files.values()].reduce((sum, { length }) => sum + length, 0);
}

function assertSize(files: Payload): void {
  const sizeBytes = sizeOf(files);
  if (files.size <= MAX_KEYS && sizeBytes <= MAX_PAYLOAD_BYTES) return;
  const limits = `${MAX_KEYS} keys and ${MAX_PAYLOAD_BYTES / 1024 / 1024} MiB`;
  throw new Refusal(
    "TooLarge",
    `the volume would have ${files.size} keys and ${sizeBytes} bytes; the limits are ${limits}`,
  );
}

/** The files of an object. `binaryData` and a Secret's `data` are base64, a ConfigMap's `data` is text. Sorted, so that messages are the same each time. */
export function filesOf(object: KubeObject): SharedFiles["files"] {
  const { data = {}, binaryData = {} } = object as Secret & ConfigMap;
  const isText = object.kind === "ConfigMap";
  return [
    ...Object.entries(data).map(
      ([key, value]) => [key, Buffer.from(value, isText ? "utf8" : "base64")] as const,
    ),
    ...Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, "base64")] as const),
  ].toSorted(([left], [right]) => (left < right ? -1 : 1));
}
