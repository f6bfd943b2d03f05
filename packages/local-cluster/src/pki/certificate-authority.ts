import { createPrivateKey, generateKeyPairSync, webcrypto } from "node:crypto";

import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

import type { System } from "../system/system.ts";
import { realSystem } from "../system/system.ts";

/** A certificate with its key, both PEM. */
export interface CertifiedKey {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Who a certificate speaks for. Kubernetes reads the common name as the user and each organization as a group. */
export interface LeafRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: "client" | "server";
}

/** Signs certificates for one cluster; the key never leaves its folder. */
export interface CertificateAuthority extends CertifiedKey {
  issue(request: LeafRequest): Promise<CertifiedKey>;
}

/** Makes a self-signed P-256 authority that is valid from a minute ago for ten years, as are the leaves it issues. */
export async function createAuthority(
  commonName: string,
  system: System = realSystem,
): Promise<CertificateAuthority> {
  const keys = await newKeys();
  // A leaf with its issuer's name would be taken for self-signed.
  const name = distinguishedName(`${commonName} authority`, []);
  const certificate = draftCertificate({ subject: name, issuer: name, system });
  certificate.extensions = [
    basicConstraints(true),
    // keyCertSign and cRLSign; digitalSignature because some verifiers want it of a self-signed serving chain.
    extension(
      "2.5.29.15",
      true,
      new asn1js.BitString({ valueHex: Uint8Array.of(0x86).buffer, unusedBits: 1 }),
    ),
  ];
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  await certificate.sign(keys.privateKey, "SHA-256");
  const authority = {
    certificatePem: toPem("CERTIFICATE", certificate.toSchema().toBER()),
    keyPem: await exportKey(keys.privateKey),
  };
  return {
    ...authority,
    issue: async (request) =>
      await issueLeaf(request, { issuer: certificate, issuerKey: keys.privateKey, system }),
  };
}

/** A fresh P-256 key for signing service-account tokens, PEM. */
export function newServiceAccountKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "sec1", format: "pem" }).toString();
}

interface Issuer {
  readonly issuer: pkijs.Certificate;
  readonly issuerKey: webcrypto.CryptoKey;
  readonly system: System;
}

async function issueLeaf(request: LeafRequest, { issuer, issuerKey, system }: Issuer): Promise<CertifiedKey> {
  const keys = await newKeys();
  const subject = distinguishedName(request.commonName, request.organizations ?? []);
  const certificate = draftCertificate({ subject, issuer: issuer.subject, system });
  const usageOid = request.usage === "server" ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2";
  certificate.extensions = [
    basicConstraints(false),
    extension(
      "2.5.29.15",
      true,
      new asn1js.BitString({ valueHex: Uint8Array.of(0x80).buffer, unusedBits: 7 }),
    ),
    extension("2.5.29.37", false, new pkijs.ExtKeyUsage({ keyPurposes: [usageOid] }).toSchema()),
    ...alternativeNames(request),
  ];
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  await certificate.sign(issuerKey, "SHA-256");
  return {
    certificatePem: toPem("CERTIFICATE", certificate.toSchema().toBER()),
    keyPem: await exportKey(keys.privateKey),
  };
}

function draftCertificate({
  subject,
  issuer,
  system,
}: {
  subject: pkijs.RelativeDistinguishedNames;
  issuer: pkijs.RelativeDistinguishedNames;
  system: System;
}): pkijs.Certificate {
  const nowMs = system.nowMs();
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ valueHex: positiveSerial(system) });
  certificate.subject = subject;
  certificate.issuer = issuer;
  certificate.notBefore = timeOf(nowMs - 60_000);
  certificate.notAfter = timeOf(nowMs + TEN_YEARS_MS);
  return certificate;
}

/** Copied into memory of its own: the buffer behind a small Buffer is a pool shared with everything else. */
function positiveSerial(system: System): ArrayBuffer {
  return Uint8Array.from(Buffer.from(`4d${system.randomHex(15)}`, "hex")).buffer;
}

const TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000;

function timeOf(ms: number): pkijs.Time {
  return new pkijs.Time({ type: pkijs.TimeType.UTCTime, value: new Date(ms) });
}

function distinguishedName(
  commonName: string,
  organizations: readonly string[],
): pkijs.RelativeDistinguishedNames {
  const attribute = (type: string, value: string): pkijs.AttributeTypeAndValue =>
    new pkijs.AttributeTypeAndValue({ type, value: new asn1js.Utf8String({ value }) });
  return new pkijs.RelativeDistinguishedNames({
    typesAndValues: [
      ...organizations.map((name) => attribute("2.5.4.10", name)),
      attribute("2.5.4.3", commonName),
    ],
  });
}

function alternativeNames({ dnsNames = [], ipAddresses = [] }: LeafRequest): pkijs.Extension[] {
  if (dnsNames.length + ipAddresses.length === 0) return [];
  const names = [
    ...dnsNames.map((value) => new pkijs.GeneralName({ type: 2, value })),
    ...ipAddresses.map(
      (address) =>
        new pkijs.GeneralName({ type: 7, value: new asn1js.OctetString({ valueHex: ipv4Bytes(address) }) }),
    ),
  ];
  return [extension("2.5.29.17", false, new pkijs.GeneralNames({ names }).toSchema())];
}

function ipv4Bytes(address: string): ArrayBuffer {
  return Uint8Array.from(address.split("."), Number).buffer;
}

function basicConstraints(cA: boolean): pkijs.Extension {
  return extension("2.5.29.19", true, new pkijs.BasicConstraints({ cA }).toSchema());
}

function extension(extnID: string, critical: boolean, value: asn1js.BaseBlock): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER(false) });
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}

function toPem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
