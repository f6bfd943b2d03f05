import { gunzipSync } from "node:zlib";

import type { ResourceManifest } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";

import { readJson } from "./read-json.ts";

/** Bytes that a packed manifest may have once it is unpacked. */
const inflatedLimitBytes = 4 * 1024 * 1024;

/** A Secret as far as a manifest needs it; `data` in base64 as the API server returns it. */
export interface ManifestSecret {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** The object that a ResourceManifest holds, or why there is none. Messages never quote content. */
export type Resolved =
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "missing" | "unreadable" | "invalid" | "changed"; readonly message: string };

/**
 * Unpacks a ResourceManifest and proves that it holds what its digest says. `missing` means that the Secret or its key is not
 * there yet, `unreadable` that the reader may not get it. Memory stays bounded whatever the data claims to be: `total` counts what
 * several manifests unpack to, and nothing is unpacked beyond its limit.
 */
export function resolveManifest(
  { metadata: { name }, spec }: ResourceManifest,
  secretOf: (name: string) => ManifestSecret | undefined,
  total: InflatedSize = new InflatedSize(),
): Resolved {
  const resolved = readSpec(spec, secretOf, total);
  if (resolved.kind !== "ok")
    return { ...resolved, message: `ResourceManifest ${name}: ${resolved.message}` };
  if (digestOf(resolved.value) === spec.sha256) return resolved;
  return {
    kind: "changed",
    message: `ResourceManifest ${name}: its content does not match the digest in spec.sha256`,
  };
}

function readSpec(
  { manifest, data, secretKeyRef }: ResourceManifest["spec"],
  secretOf: (name: string) => ManifestSecret | undefined,
  total: InflatedSize,
): Resolved {
  if (manifest !== undefined) return { kind: "ok", value: manifest };
  if (data !== undefined) return inflate(data, total);
  if (secretKeyRef !== undefined) return readSecret(secretKeyRef, secretOf(secretKeyRef.name), total);
  return { kind: "invalid", message: "has none of manifest, data, secretKeyRef" };
}

function inflate(data: string, total: InflatedSize): Resolved {
  const maxOutputLength = Math.min(inflatedLimitBytes, total.leftBytes);
  if (maxOutputLength <= 0) return tooLarge(total);
  try {
    return parse(gunzipSync(Buffer.from(data, "base64"), { maxOutputLength }), total);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") return tooLarge(total);
    if (typeof code === "string" && code.startsWith("Z_"))
      return { kind: "invalid", message: "data is not gzip" };
    throw error;
  }
}

function tooLarge({ leftBytes, limitBytes }: InflatedSize): Resolved {
  if (leftBytes >= inflatedLimitBytes) return { kind: "invalid", message: "inflates to more than 4 MiB" };
  const limit = `${limitBytes / 2 ** 20} MiB`;
  const message = `with it, the manifestRefs in spec.stages inflate to more than ${limit} in total; split the plan`;
  return { kind: "invalid", message };
}

function readSecret(
  { name, key }: { readonly name: string; readonly key: string },
  secret: ManifestSecret | undefined,
  total: InflatedSize,
): Resolved {
  if (secret === undefined) return { kind: "missing", message: `Secret ${name} does not exist` };
  if (secret.immutable !== true) {
    return { kind: "invalid", message: `Secret ${name} must be immutable; set immutable: true on it` };
  }
  const { data = {} } = secret;
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  // An immutable Secret never gets the key later, only a new one of the same name does.
  if (value === undefined)
    return { kind: "missing", message: `Secret ${name} has no key ${JSON.stringify(key)}` };
  return parse(Buffer.from(value, "base64"), total);
}

/** JSON only: YAML of this size would hold up everything else. */
function parse(bytes: Uint8Array, total: InflatedSize): Resolved {
  const text = decode(bytes);
  const sizeBytes = Math.max(bytes.length, text === undefined ? 0 : bytesPerValue * countValues(text));
  if (sizeBytes > Math.min(inflatedLimitBytes, total.leftBytes)) return tooLarge(total);
  const reading = text === undefined ? ({ kind: "broken" } as const) : readJson(text);
  total.add(sizeBytes);
  if (reading.kind === "read") return { kind: "ok", value: reading.value };
  return {
    kind: "invalid",
    message: reading.kind === "broken" ? "is not JSON" : `line ${reading.line}: ${reading.message}`,
  };
}

/** A value takes more memory than the two characters of `[]`: text of nothing else counts by its values. */
const bytesPerValue = 16;

/** Values in a JSON text, before any of them is made: those after an opening bracket, a comma or a colon. */
function countValues(text: string): number {
  let count = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if ("[{,:".includes(character)) count += 1;
  }
  return count;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Bytes that the manifests of one plan may unpack to, each counted once. */
const planLimitBytes = 16 * 2 ** 20;

export class InflatedSize {
  readonly limitBytes: number;
  #bytes = 0;

  constructor(limitBytes: number = planLimitBytes) {
    this.limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get leftBytes(): number {
    return this.limitBytes - this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}
