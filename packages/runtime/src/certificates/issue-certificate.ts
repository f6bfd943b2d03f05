import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";

import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

import { alternativeNames, authorityExtensions, commonName, leafExtensions } from "./certificate-fields.ts";
import type { CertifiedKey } from "./certificate-source.ts";

/** From when to when a certificate holds; milliseconds since the epoch. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** What every certificate needs. `serial` is hex and must be unique, e.g. a uuid without dashes. */
export interface CertificateRequest {
  readonly name: string;
  readonly serial: string;
  readonly validity: Validity;
}

/** For which names a serving certificate speaks. */
export interface ServingRequest extends CertificateRequest {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** A self-signed P-256 authority. Its name must differ from those of the leaves it signs: they would count as self-signed. */
export async function issueAuthority(request: CertificateRequest): Promise<CertifiedKey> {
  const keys = await newKeys();
  const certificate = draft(request, commonName(request.name));
  certificate.extensions = authorityExtensions();
  return await signed(certificate, keys, keys.privateKey);
}

/** A serving certificate signed by an authority. */
export async function issueServing(authority: CertifiedKey, request: ServingRequest): Promise<CertifiedKey> {
  const keys = await newKeys();
  const certificate = draft(request, issuerOf(authority).subject);
  certificate.extensions = [...leafExtensions(), alternativeNames(request)];
  return await signed(certificate, keys, await importKey(authority.keyPem));
}

/** When a certificate holds. Throws for what is no certificate. */
export function validityOf(certificatePem: string): Validity {
  const { validFrom, validTo } = new X509Certificate(certificatePem);
  return { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
}

/** Whether the key belongs to the certificate; false for what cannot be read, as when a file is half written. */
export function isPair({ certificatePem, keyPem }: CertifiedKey): boolean {
  try {
    return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    // Which byte is wrong would help nobody, and the text holds a key.
    return false;
  }
}

function draft(
  { name, serial, validity }: CertificateRequest,
  issuer: pkijs.RelativeDistinguishedNames,
): pkijs.Certificate {
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ valueHex: bytesOf(Buffer.from(`4d${serial}`, "hex")) });
  certificate.subject = commonName(name);
  certificate.issuer = issuer;
  certificate.notBefore = timeOf(validity.notBeforeMs);
  certificate.notAfter = timeOf(validity.notAfterMs);
  return certificate;
}

async function signed(
  certificate: pkijs.Certificate,
  keys: webcrypto.CryptoKeyPair,
  signer: webcrypto.CryptoKey,
): Promise<CertifiedKey> {
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  await certificate.sign(signer, "SHA-256");
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    certificatePem: certificatePemOf(certificate.toSchema().toBER()),
    keyPem: key.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
}

async function importKey(keyPem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(keyPem).export({ type: "pkcs8", format: "der" });
  return await webcrypto.subtle.importKey("pkcs8", bytesOf(der), ecdsa, false, ["sign"]);
}

function issuerOf({ certificatePem }: CertifiedKey): pkijs.Certificate {
  return pkijs.Certificate.fromBER(bytesOf(new X509Certificate(certificatePem).raw));
}

/** Certificates know whole seconds; until 2049 in the short form. */
function timeOf(ms: number): pkijs.Time {
  const value = new Date(ms);
  const isLate = value.getUTCFullYear() > 2049;
  return new pkijs.Time({ type: isLate ? pkijs.TimeType.GeneralizedTime : pkijs.TimeType.UTCTime, value });
}

/** Copied into memory of its own: the buffer behind a small Buffer is a pool shared with everything else. */
function bytesOf(buffer: Buffer): ArrayBuffer {
  return Uint8Array.from(buffer).buffer;
}

function certificatePemOf(der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
