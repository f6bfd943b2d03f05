import { createPrivateKey, hash, X509Certificate } from "node:crypto";

import * as pkijs from "pkijs";

import { type CertificateExtensions, readExtensions } from "./certificate-extensions.ts";
import type { CertifiedKey } from "./certificate-source.ts";
import { readSubject, type Subject } from "./subject.ts";

/** Keys that we make. */
export type KeyChoice = "ecdsa-p256" | "ecdsa-p384" | "rsa-2048" | "rsa-3072" | "rsa-4096";

/** From when to when a certificate holds; milliseconds since the epoch. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Facts of a certificate. */
export interface CertificateFacts extends CertificateExtensions {
  readonly subject: Subject;
  readonly issuer: Subject;
  /** Hex, lower case. */
  readonly serial: string;
  readonly validity: Validity;
  /** SHA-256 of the whole, hex. */
  readonly fingerprint: string;
  /** Undefined for keys that we would not make. */
  readonly key?: KeyChoice | undefined;
}

/** Facts of the first certificate of a PEM text; undefined when there is none that can be read. */
export function readCertificate(certificatePem: string): CertificateFacts | undefined {
  const [pem] = certificatesIn(certificatePem);
  if (pem === undefined) return undefined;
  const known = recentFacts.get(pem);
  if (known !== undefined) return known;
  const facts = factsIn(pem);
  if (facts !== undefined && pem.length <= rememberedChars) remember(recentFacts, pem, facts);
  return facts;
}

const [rememberedCount, rememberedChars] = [512, 16_384];

/** A reconcile reads the same certificates several times, and decoding one takes milliseconds. Texts are public; no key is among them. */
const recentFacts = new Map<string, CertificateFacts>();

/** By the digest of certificate and key: keys are not kept. */
const recentPairs = new Map<string, boolean>();

/** The oldest makes room: what certificates of others push out is only worked out again. */
function remember<V>(recent: Map<string, V>, key: string, value: V): void {
  const [oldest] = recent.keys();
  if (recent.size >= rememberedCount && oldest !== undefined) recent.delete(oldest);
  recent.set(key, value);
}

function factsIn(pem: string): CertificateFacts | undefined {
  try {
    const certificate = decodeCertificate(pem);
    const parsed = new X509Certificate(pem);
    const key = keyChoiceOf(parsed);
    return {
      ...readExtensions(certificate),
      subject: readSubject(certificate.subject),
      issuer: readSubject(certificate.issuer),
      serial: parsed.serialNumber.toLowerCase(),
      validity: validityOf(pem),
      fingerprint: parsed.fingerprint256.replaceAll(":", "").toLowerCase(),
      key,
    };
  } catch {
    // Which byte is wrong would help no one: the whole is of no use.
    return undefined;
  }
}

/** The certificates in a PEM text, one text each; what is between them is left out. */
export function certificatesIn(pem: string): readonly string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,65536}-----END CERTIFICATE-----/g);
  return (found ?? []).map((text) => `${text}\n`);
}

/** When a certificate holds. Throws for what is no certificate. */
export function validityOf(certificatePem: string): Validity {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  return { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() };
}

/** Whether the key belongs to the certificate; false for what cannot be read, as when a file is half written. */
export function isPair(pair: CertifiedKey): boolean {
  const digest = hash("sha256", JSON.stringify([pair.certificatePem, pair.keyPem]));
  const known = recentPairs.get(digest);
  if (known !== undefined) return known;
  const response = checkPair(pair);
  remember(recentPairs, digest, response);
  return response;
}

function checkPair({ certificatePem, keyPem }: CertifiedKey): boolean {
  try {
    return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    // Which byte is wrong would help no one, and the text holds a key.
    return false;
  }
}

/** The certificate's structure. Throws for what is no certificate. */
export function decodeCertificate(certificatePem: string): pkijs.Certificate {
  return pkijs.Certificate.fromBER(bytesOf(new X509Certificate(certificatePem).raw));
}

/** Copied into memory of its own: the buffer behind a small Buffer is a pool shared with everything else. */
export function bytesOf(buffer: Buffer): ArrayBuffer {
  return Uint8Array.from(buffer).buffer;
}

function keyChoiceOf({ publicKey }: X509Certificate): KeyChoice | undefined {
  const { namedCurve, modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  return keyChoices.get(namedCurve ?? String(modulusLength));
}

const keyChoices: ReadonlyMap<string, KeyChoice> = new Map([
  ["prime256v1", "ecdsa-p256"],
  ["secp384r1", "ecdsa-p384"],
  ["2048", "rsa-2048"],
  ["3072", "rsa-3072"],
  ["4096", "rsa-4096"],
]);
