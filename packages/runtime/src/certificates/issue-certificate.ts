import { createPrivateKey, type KeyObject, webcrypto } from "node:crypto";

import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

import {
  type AlternativeNames,
  certificateExtensions,
  type CertificateExtensions,
  type CertificateUsage,
  keyIdOf,
  readExtensions,
} from "./certificate-extensions.ts";
import type { CertifiedKey } from "./certificate-source.ts";
import { bytesOf, decodeCertificate, type KeyChoice, type Validity } from "./read-certificate.ts";
import { type Subject, subjectName } from "./subject.ts";

/** Fields of every certificate. */
export interface CertificateRequest {
  readonly subject: Subject;
  /** Hex of 1 to 19 bytes, unique for the CA, e.g. a uuid without dashes. */
  readonly serial: string;
  readonly validity: Validity;
  /** Default: `ecdsa-p256`. Engines in Java that read only PKCS #1 or old stores may need RSA. */
  readonly key?: KeyChoice | undefined;
}

/** A certificate that a CA signs. */
export interface IssuedRequest extends CertificateRequest, Partial<AlternativeNames> {
  /** A node of a cluster is both. */
  readonly usages: readonly CertificateUsage[];
}

/** A self-signed CA. Its subject must differ from those it signs: they would count as self-signed. */
export async function issueCa(request: CertificateRequest): Promise<CertifiedKey> {
  const keys = await newKeys(request.key);
  const certificate = await draft(request, keys);
  certificate.issuer = subjectName(request.subject);
  const subjectKeyId = keyIdOf(certificate.subjectPublicKeyInfo);
  const own = { isCa: true, usages: [], dnsNames: [], ipAddresses: [] };
  certificate.extensions = certificateExtensions(
    { ...own, subjectKeyId, authorityKeyId: subjectKeyId },
    { isRsa: isRsa(request.key) },
  );
  return await signed(certificate, keys, signerOf(keys.privateKey));
}

/**
 * A certificate for a server, a client or a node, signed by a CA whose key may be of another type.
 *
 * @example
 * const admin = await issueCertificate(CA, {
 *   subject: { commonName: "admin", organizations: ["example"], organizationalUnits: ["search"] },
 *   usages: ["client"], serial, validity,
 * });
 */
export async function issueCertificate(ca: CertifiedKey, request: IssuedRequest): Promise<CertifiedKey> {
  const { usages, dnsNames = [], ipAddresses = [] } = request;
  const issuer = decodeCertificate(ca.certificatePem);
  const keys = await newKeys(request.key);
  const certificate = await draft(request, keys);
  certificate.issuer = issuer.subject;
  const facts: CertificateExtensions = {
    isCa: false,
    usages,
    dnsNames,
    ipAddresses,
    subjectKeyId: keyIdOf(certificate.subjectPublicKeyInfo),
    ...issuerKeyId(issuer),
  };
  certificate.extensions = certificateExtensions(facts, { isRsa: isRsa(request.key) });
  return await signed(certificate, keys, await importSigner(ca.keyPem));
}

/** Left out for a CA that does not name its key: a made-up one would match nothing. */
function issuerKeyId(issuer: pkijs.Certificate): Pick<CertificateExtensions, "authorityKeyId"> {
  const { subjectKeyId } = readExtensions(issuer);
  return subjectKeyId === undefined ? {} : { authorityKeyId: subjectKeyId };
}

async function draft(
  { subject, serial, validity }: CertificateRequest,
  keys: webcrypto.CryptoKeyPair,
): Promise<pkijs.Certificate> {
  if (!/^(?:[0-9a-f]{2}){1,19}$/i.test(serial))
    throw new RangeError(`"${serial}" is not 1 to 19 bytes of hex`);
  if (validity.notAfterMs <= validity.notBeforeMs)
    throw new RangeError("a certificate ends before it begins");
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  // The byte before keeps it positive and without a leading zero.
  certificate.serialNumber = new asn1js.Integer({ valueHex: bytesOf(Buffer.from(`4d${serial}`, "hex")) });
  certificate.subject = subjectName(subject);
  certificate.notBefore = timeOf(validity.notBeforeMs);
  certificate.notAfter = timeOf(validity.notAfterMs);
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  return certificate;
}

interface Signer {
  readonly key: webcrypto.CryptoKey;
  readonly hash: "SHA-256" | "SHA-384";
}

async function signed(
  certificate: pkijs.Certificate,
  keys: webcrypto.CryptoKeyPair,
  signer: Signer,
): Promise<CertifiedKey> {
  await certificate.sign(signer.key, signer.hash);
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    certificatePem: certificatePemOf(certificate.toSchema().toBER()),
    keyPem: key.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const p256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const p384 = { name: "ECDSA", namedCurve: "P-384" } as const;
const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
const rsaKeys = (modulusLength: number): webcrypto.RsaHashedKeyGenParams => ({
  ...rsa,
  modulusLength,
  publicExponent: Uint8Array.of(1, 0, 1),
});

const algorithms: Readonly<Record<KeyChoice, webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams>> = {
  "ecdsa-p256": p256,
  "ecdsa-p384": p384,
  "rsa-2048": rsaKeys(2048),
  "rsa-3072": rsaKeys(3072),
  "rsa-4096": rsaKeys(4096),
};

async function newKeys(choice: KeyChoice = "ecdsa-p256"): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithms[choice], true, ["sign", "verify"]);
}

function isRsa(choice: KeyChoice = "ecdsa-p256"): boolean {
  return choice.startsWith("rsa-");
}

async function importSigner(keyPem: string): Promise<Signer> {
  const key = createPrivateKey(keyPem);
  const der = bytesOf(key.export({ type: "pkcs8", format: "der" }));
  return signerOf(await webcrypto.subtle.importKey("pkcs8", der, algorithmOf(key), false, ["sign"]));
}

function algorithmOf({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): typeof p256 | typeof p384 | typeof rsa {
  if (asymmetricKeyType === "rsa") return rsa;
  if (asymmetricKeyDetails?.namedCurve === "prime256v1") return p256;
  if (asymmetricKeyDetails?.namedCurve === "secp384r1") return p384;
  throw new RangeError("the CA's key is neither RSA nor on the curve P-256 or P-384");
}

function signerOf(key: webcrypto.CryptoKey): Signer {
  const isP384 = "namedCurve" in key.algorithm && key.algorithm.namedCurve === "P-384";
  return { key, hash: isP384 ? "SHA-384" : "SHA-256" };
}

/** Certificates know whole seconds; until 2049 in the short form. */
function timeOf(ms: number): pkijs.Time {
  const value = new Date(ms);
  const isLate = value.getUTCFullYear() > 2049;
  return new pkijs.Time({ type: isLate ? pkijs.TimeType.GeneralizedTime : pkijs.TimeType.UTCTime, value });
}

function certificatePemOf(der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
