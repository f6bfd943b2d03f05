import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, ObjectMeta, NamespacedRef } from "../object/kube-object.ts";
import type { System } from "../system/system.ts";
import { unreachable } from "../unreachable.ts";
import { issueCa } from "./issue-certificate.ts";
import { isPair, validityOf } from "./read-certificate.ts";
import { type CaSet, type Ca, rotationStep, type RotationTimes } from "./rotation.ts";

export interface KeepCaSetOptions {
  readonly client: Pick<Client, "find" | "create" | "replace">;
  readonly system: System;
  readonly secret: NamespacedRef;
  readonly times: RotationTimes;
  /** Stem of the CAs' names. */
  readonly name: string;
}

/**
 * The CAs that all replicas share, brought up to date: made when there are none, announced and retired when it is
 * time. Replicas that do the same at the same time end with one result: the API server takes the first write, the others read it.
 */
export async function keepCaSet(options: KeepCaSetOptions, signal: AbortSignal): Promise<CaSet> {
  for (let attempt = 1; ; attempt += 1) {
    const kept = await tryToKeep(options, signal);
    if (kept !== undefined) return kept;
    if (attempt >= 5) throw new Error("the Secret of the CAs changes faster than it can be read");
  }
}

/** Undefined when another client was faster. */
async function tryToKeep(options: KeepCaSetOptions, signal: AbortSignal): Promise<CaSet | undefined> {
  const { client, secret, system, times } = options;
  const found = await client.find(caSecrets, secret, { signal });
  const current = found === undefined ? undefined : readCaSet(found);
  if (found !== undefined && !isOurs(found)) return foreign(current, secret);
  const wanted =
    current === undefined
      ? { newest: await newCa(options) }
      : await nextCaSet(options, current, rotationStep(current, times, system.wallMs()));
  if (wanted === current) return current;
  try {
    return readCaSet(await write(options, { wanted, found, signal }));
  } catch (error) {
    const code = classify(error);
    if (code === "conflict" || code === "alreadyExists" || code === "notFound") return undefined;
    throw error;
  }
}

function notShipped({ namespace, name }: NamespacedRef, cause: unknown): Error {
  const message = `Secret ${namespace}/${name} does not exist, and we may not create it: apply the manifest that brings it, empty`;
  return new Error(message, { cause });
}

/** A CA from another client is used as it is, never renewed and never overwritten. */
function foreign(current: CaSet | undefined, { namespace, name }: NamespacedRef): CaSet {
  if (current !== undefined) return current;
  throw new Error(`Secret ${namespace}/${name} is not ours and holds no CA in tls.crt and tls.key`);
}

async function nextCaSet(
  options: KeepCaSetOptions,
  current: CaSet,
  step: ReturnType<typeof rotationStep>,
): Promise<CaSet> {
  switch (step) {
    case "keep":
      return current;
    case "retire":
      return { newest: current.newest };
    case "announce":
      return { newest: await newCa(options), previous: current.newest };
    default:
      return unreachable(step);
  }
}

interface SecretWrite {
  readonly wanted: CaSet;
  readonly found: CaSecret | undefined;
  readonly signal: AbortSignal;
}

async function write(
  { client, secret: ref }: KeepCaSetOptions,
  { wanted, found, signal }: SecretWrite,
): Promise<CaSecret> {
  const secret = secretOf(ref, wanted, found);
  if (found !== undefined) return await client.replace(caSecrets, secret, { signal });
  try {
    return await client.create(caSecrets, secret, { signal });
  } catch (error) {
    throw classify(error) === "forbidden" ? notShipped(ref, error) : error;
  }
}

async function newCa({ name, system, times }: KeepCaSetOptions): Promise<Ca> {
  const serial = system.uuid().replaceAll("-", "");
  const announcedMs = Math.floor(system.wallMs() / 1_000) * 1_000;
  const expiresMs = announcedMs + times.caMs;
  const validity = { notBeforeMs: announcedMs - backdateMs, notAfterMs: expiresMs };
  // A name of its own: with equal names a verifier could take the old key for the new one's.
  const pair = await issueCa({
    subject: { commonName: `${name} authority ${serial.slice(0, 8)}` },
    serial,
    validity,
  });
  return { ...pair, announcedMs, expiresMs };
}

/** A Secret, as far as CAs go. */
export interface CaSecret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Secrets of the core group. */
const caSecrets: Kind<CaSecret> = defineKind<CaSecret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
});

/** Certificates hold from this long before they are made, for those whose clocks are behind. */
export const backdateMs = 5 * 60_000;

/** The CAs in a Secret; undefined when it holds none that can be used. */
export function readCaSet({ data = {} }: CaSecret): CaSet | undefined {
  const newest = caAt(data, "tls");
  const previous = caAt(data, "previous");
  if (newest === undefined) return undefined;
  return previous === undefined ? { newest } : { newest, previous };
}

/** A Secret that holds the CAs; `existing` is replaced under its resourceVersion. */
export function secretOf(ref: NamespacedRef, cas: CaSet, existing?: CaSecret): CaSecret {
  const { newest, previous } = cas;
  const data = {
    ...entries("tls", newest),
    ...(previous === undefined ? {} : entries("previous", previous)),
  };
  const type = existing?.type ?? "kubernetes.io/tls";
  const metadata: ObjectMeta = existing?.metadata ?? ref;
  const labels = { ...metadata.labels, [position]: "true" };
  return { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, labels }, type, data };
}

/** Whether the Secret is ours to write: it has our label, or was created empty for us. */
function isOurs({ metadata, data = {} }: CaSecret): boolean {
  return metadata.labels?.[position] === "true" || Object.values(data).every((value) => value === "");
}

const position = "quartermaster.dev/certificate-authority";

function caAt(data: Readonly<Record<string, string>>, stem: string): Ca | undefined {
  const pair = { certificatePem: textAt(data, `${stem}.crt`), keyPem: textAt(data, `${stem}.key`) };
  if (!isPair(pair)) return undefined;
  const { notBeforeMs, notAfterMs } = validityOf(pair.certificatePem);
  return { ...pair, announcedMs: notBeforeMs + backdateMs, expiresMs: notAfterMs };
}

function textAt(data: Readonly<Record<string, string>>, key: string): string {
  return Buffer.from(data[key] ?? "", "base64").toString("utf8");
}

function entries(stem: string, { certificatePem, keyPem }: Ca): Readonly<Record<string, string>> {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  return { [`${stem}.crt`]: encode(certificatePem), [`${stem}.key`]: encode(keyPem) };
}
