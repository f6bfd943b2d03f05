import { LICENSE_REMAINDER_KEY, MAX_NODES_KEY, SIGNATURE_SECRET_TYPE } from "@quartermaster/api/licensing";

import type { LicenseProblem } from "./license-candidate.ts";

/** A Secret as far as signatures are concerned; values are base64. */
export interface SignatureSecret {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Where a license says that its signature is. */
export interface SignatureRef {
  readonly name: string;
  readonly key?: string | undefined;
  readonly namespace?: string | undefined;
}

/** A signature, or why there is none. Messages name objects and keys, never content. */
export type SignatureRead =
  | {
      readonly kind: "found";
      /** As the vendor wrote it; never to be shown. */
      readonly text: string;
      readonly envelope: SignatureEnvelope;
      /** From the key maxNodes, for a license whose spec does not say it. */
      readonly maxNodes?: number | undefined;
    }
  | { readonly kind: "fault"; readonly problem: LicenseProblem; readonly message: string };

/** A signature to read, and its license. */
export interface SignatureRequest {
  readonly ref: SignatureRef;
  /** Namespace of the license. */
  readonly namespace: string;
  /** Undefined where there is none. */
  readonly secret: SignatureSecret | undefined;
  /** Key if the reference names none (default: the only one). */
  readonly defaultKey?: string;
}

/**
 * Reads the signature of a license from its Secret, of any type: `kubectl create secret generic` makes Opaque ones. Of a Secret of
 * another type than ours the message says only that it holds no signature: its keys are no business of who names it in a license.
 */
export function readSignature({ ref, namespace, secret, defaultKey }: SignatureRequest): SignatureRead {
  if (ref.namespace !== undefined && ref.namespace !== namespace)
    return problemOf("Malformed", `signatureRef names namespace ${ref.namespace}; it must be ${namespace}`);
  if (secret === undefined) return problemOf("SignatureMissing", `Secret ${ref.name} does not exist`);
  const data = systemSecretTypes.includes(secret.type ?? "") ? {} : (secret.data ?? {});
  const read = readKey(ref.name, data, ref.key ?? defaultKey);
  return read.kind === "found" || secret.type === SIGNATURE_SECRET_TYPE
    ? read
    : problemOf("SignatureMissing", `Secret ${ref.name} has no signature of a license, or not under the key`);
}

/** Types of Secrets whose content other programs own: they are never looked into, whatever they hold. */
export const systemSecretTypes: readonly string[] = [
  "bootstrap.kubernetes.io/token",
  "helm.sh/release.v1",
  "kubernetes.io/basic-auth",
  "kubernetes.io/dockercfg",
  "kubernetes.io/dockerconfigjson",
  "kubernetes.io/service-account-token",
  "kubernetes.io/ssh-auth",
  "kubernetes.io/tls",
];

/** The Secret with nothing in it but what a license can use: all other values of Secrets beside signatures are dropped unread. */
export function signatureData({ type, data = {} }: SignatureSecret): Readonly<Record<string, string>> {
  if (type === SIGNATURE_SECRET_TYPE) return data;
  const names = Object.keys(data).filter((key) => {
    const read = reserved.has(key)
      ? undefined
      : readText(data[key] ?? "", { name: "", key, maxNodes: undefined });
    return read === undefined || read.kind === "found";
  });
  return Object.fromEntries(names.map((key) => [key, data[key] ?? ""]));
}

function readKey(name: string, data: Readonly<Record<string, string>>, wanted?: string): SignatureRead {
  const key = wanted ?? keyOf(data);
  if (key === undefined)
    return problemOf("SignatureAmbiguous", `Secret ${name} has several keys: name one in signatureRef.key`);
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined;
  if (encoded === undefined) return problemOf("SignatureMissing", `Secret ${name} has no key ${key}`);
  return readText(encoded, { name, key, maxNodes: readMaxNodes(data) });
}

/** Keys that hold no signature. */
const reserved: ReadonlySet<string> = new Set([MAX_NODES_KEY, LICENSE_REMAINDER_KEY]);

/** The only key that can hold a signature. */
function keyOf(data: Readonly<Record<string, string>>): string | undefined {
  const keys = Object.keys(data).filter((key) => !reserved.has(key));
  return keys.length > 1 ? undefined : (keys[0] ?? "signature");
}

interface Location {
  readonly name: string;
  readonly key: string;
  readonly maxNodes: number | undefined;
}

function readText(encoded: string, { name, key, maxNodes }: Location): SignatureRead {
  const isTooLong = encoded.length > 2 * longestSignature;
  const text = isTooLong ? "" : Buffer.from(encoded, "base64").toString("latin1").trim();
  const envelope = readSignatureEnvelope(text);
  if (envelope === undefined)
    return problemOf("SignatureInvalid", `key ${key} of Secret ${name} is not the signature of a license`);
  return { kind: "found", text, envelope, maxNodes };
}

function readMaxNodes(data: Readonly<Record<string, string>>): number | undefined {
  const encoded = Object.hasOwn(data, MAX_NODES_KEY) ? data[MAX_NODES_KEY] : undefined;
  const text = encoded === undefined ? "" : Buffer.from(encoded.slice(0, 64), "base64").toString("latin1");
  return /^[1-9]\d{0,8}$/.test(text.trim()) ? Number(text) : undefined;
}

function problemOf(problem: LicenseProblem, message: string): SignatureRead {
  return { kind: "fault", problem, message };
}

/** A signature of a license, taken apart. */
export interface SignatureEnvelope {
  /** Version of the license format; decides which fields are signed. */
  readonly version: number;
  /** Names the key that signed. */
  readonly fingerprint: Uint8Array;
  readonly signature: Uint8Array;
}

/** Characters of the longest signature that is read; real ones have about 1,000. */
export const longestSignature: number = 64 * 1024;

const newestVersion = 99;

/**
 * Takes the base64 text of a signature apart. Undefined for whatever is not exactly one: too long, truncated, with lengths that do
 * not add up, or self-generated, which no server accepts from outside.
 */
export function readSignatureEnvelope(text: string): SignatureEnvelope | undefined {
  if (text.length > longestSignature || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return readBytes(Buffer.from(text, "base64"));
}

function readBytes(bytes: Buffer): SignatureEnvelope | undefined {
  const version = bytes.length < 4 ? 0 : bytes.readInt32BE(0);
  if (version < 1 || version > newestVersion) return undefined;
  const magic = blockAt(bytes, 4);
  const fingerprint = magic && blockAt(bytes, magic.end);
  const signature = fingerprint && blockAt(bytes, fingerprint.end);
  const isWhole = signature?.end === bytes.length && signature.content.length > 0;
  return fingerprint !== undefined && isWhole
    ? { version, fingerprint: fingerprint.content, signature: signature.content }
    : undefined;
}

interface Block {
  readonly content: Uint8Array;
  readonly end: number;
}

/** A length of four bytes and as many bytes. Nothing is allocated by the length: it has to fit into what is there. */
function blockAt(bytes: Buffer, at: number): Block | undefined {
  if (at + 4 > bytes.length) return undefined;
  const length = bytes.readInt32BE(at);
  const end = at + 4 + length;
  return length < 0 || end > bytes.length ? undefined : { content: bytes.subarray(at + 4, end), end };
}
