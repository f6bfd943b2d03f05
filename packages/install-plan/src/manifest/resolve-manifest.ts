import { gunzipSync } from "node:zlib";

import type { ResourceManifest } from "@quartermaster/api";

import { digestOf } from "./canonical-json.ts";
import { readJson } from "./read-json.ts";

/** Bytes that a packed manifest may have once it is unpacked. */
const inflatedLimitBytes = 4 * 1024 * 1024;

/** A Secret as far as a manifest needs it; `data` in base64 as the API server tells it. */
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
 * there yet, `unreadable` that the reader may not get it. Memory stays bounded whatever the data claims to be.
 */
export function resolveManifest(
  { metadata: { name }, spec }: ResourceManifest,
  secretOf: (name: string) => ManifestSecret | undefined,
): Resolved {
  const resolved = readSpec(spec, secretOf);
  if (resolved.kind !== "ok")
    return { ...resolved, message: `ResourceManifest ${name}: ${resolved.message}` };
  if (digestOf(resolved.value) === spec.sha256) return resolved;
  return {
    kind: "changed",
    message: `ResourceManifest ${name}: its content does not have the digest in spec.sha256`,
  };
}

function readSpec(
  { manifest, data, secretKeyRef }: ResourceManifest["spec"],
  secretOf: (name: string) => ManifestSecret | undefined,
): Resolved {
  if (manifest !== undefined) return { kind: "ok", value: manifest };
  if (data !== undefined) return inflate(data);
  if (secretKeyRef !== undefined) return readSecret(secretKeyRef, secretOf(secretKeyRef.name));
  return { kind: "invalid", message: "has none of manifest, data, secretKeyRef" };
}

function inflate(data: string): Resolved {
  try {
    return parse(gunzipSync(Buffer.from(data, "base64"), { maxOutputLength: inflatedLimitBytes }));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") return { kind: "invalid", message: "inflates to more than 4 MiB" };
    if (typeof code === "string" && code.startsWith("Z_"))
      return { kind: "invalid", message: "data is not gzip" };
    throw error;
  }
}

function readSecret(
  { name, key }: { readonly name: string; readonly key: string },
  secret: ManifestSecret | undefined,
): Resolved {
  if (secret === undefined) return { kind: "missing", message: `Secret ${name} is not there` };
  if (secret.immutable !== true) {
    return { kind: "invalid", message: `Secret ${name} must be immutable; set immutable: true on it` };
  }
  const { data = {} } = secret;
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  // An immutable Secret never gets the key later, only a new one of the same name does.
  if (value === undefined)
    return { kind: "missing", message: `Secret ${name} has no key ${JSON.stringify(key)}` };
  return parse(Buffer.from(value, "base64"));
}

/** JSON only: YAML of this size would hold up everything else. */
function parse(bytes: Uint8Array): Resolved {
  const text = decode(bytes);
  const reading = text === undefined ? ({ kind: "broken" } as const) : readJson(text);
  if (reading.kind === "read") return { kind: "ok", value: reading.value };
  return {
    kind: "invalid",
    message: reading.kind === "broken" ? "is not JSON" : `line ${reading.line}: ${reading.message}`,
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
