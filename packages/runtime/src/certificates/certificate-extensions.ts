import { createHash } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";

import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

/** Use of a certificate in TLS. */
export type CertificateUsage = "server" | "client";

/** The names and addresses that a certificate speaks for. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

export interface CertificateExtensions extends AlternativeNames {
  readonly isCa: boolean;
  readonly usages: readonly CertificateUsage[];
  /** Hex. */
  readonly subjectKeyId?: string | undefined;
  /** Hex; that of the issuer. */
  readonly authorityKeyId?: string | undefined;
}

/** The extensions in their order. `isRsa` allows the key exchange that only RSA keys know. */
export function certificateExtensions(
  { isCa, usages, dnsNames, ipAddresses, subjectKeyId, authorityKeyId }: CertificateExtensions,
  { isRsa }: { readonly isRsa: boolean },
): pkijs.Extension[] {
  const names = alternativeNames({ dnsNames, ipAddresses });
  return [
    ...(isCa ? caExtensions() : issuedExtensions(usages, isRsa)),
    ...(names.length === 0
      ? []
      : [extension(ids.names, new pkijs.GeneralNames({ names }).toSchema(), false)]),
    ...(subjectKeyId === undefined ? [] : [extension(ids.subjectKey, octets(subjectKeyId), false)]),
    ...(authorityKeyId === undefined ? [] : [extension(ids.authorityKey, issuerKey(authorityKeyId), false)]),
  ];
}

export function readExtensions({ extensions = [] }: pkijs.Certificate): CertificateExtensions {
  const parsed = new Map(extensions.map(({ extnID, parsedValue }) => [extnID, parsedValue as unknown]));
  const [basic, names, usage] = [parsed.get(ids.basic), parsed.get(ids.names), parsed.get(ids.usage)];
  const [subjectKey, authorityKey] = [parsed.get(ids.subjectKey), parsed.get(ids.authorityKey)];
  const authorityKeyId =
    authorityKey instanceof pkijs.AuthorityKeyIdentifier ? authorityKey.keyIdentifier : undefined;
  const purposes = usage instanceof pkijs.ExtKeyUsage ? usage.keyPurposes : [];
  return {
    isCa: basic instanceof pkijs.BasicConstraints && basic.cA,
    usages: usageNames.filter((name) => purposes.includes(purposeIds[name])),
    ...readNames(names instanceof pkijs.GeneralNames ? names.names : altNames(names)),
    ...(subjectKey instanceof asn1js.OctetString ? { subjectKeyId: hexOf(subjectKey) } : {}),
    authorityKeyId: authorityKeyId === undefined ? undefined : hexOf(authorityKeyId),
  };
}

/** An address as certificates and URLs write it: IPv6 in its shortest form. Throws RangeError for what is no address. */
export function canonicalAddress(address: string): string {
  return addressText(Buffer.from(addressBytes(address)));
}

/** Identifies a public key: the first 160 bits of SHA-256 of it (RFC 7093), in hex. */
export function keyIdOf(publicKey: pkijs.PublicKeyInfo): string {
  const bytes = publicKey.subjectPublicKey.valueBlock.valueHexView;
  return createHash("sha256").update(bytes).digest("hex").slice(0, 40);
}

const ids = {
  basic: "2.5.29.19",
  keyUsage: "2.5.29.15",
  usage: "2.5.29.37",
  names: "2.5.29.17",
  subjectKey: "2.5.29.14",
  authorityKey: "2.5.29.35",
} as const;

const usageNames = ["server", "client"] as const;
const purposeIds = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

/** May sign certificates and nothing below them that may: path length 0. */
function caExtensions(): pkijs.Extension[] {
  const constraints = new pkijs.BasicConstraints({ cA: true, pathLenConstraint: 0 });
  return [extension(ids.basic, constraints.toSchema()), keyUsage(0x86, 1)];
}

function issuedExtensions(usages: readonly CertificateUsage[], isRsa: boolean): pkijs.Extension[] {
  const purpose = new pkijs.ExtKeyUsage({ keyPurposes: usages.map((usage) => purposeIds[usage]) });
  return [
    extension(ids.basic, new pkijs.BasicConstraints({ cA: false }).toSchema()),
    isRsa ? keyUsage(0xa0, 5) : keyUsage(0x80, 7),
    extension(ids.usage, purpose.toSchema(), false),
  ];
}

function alternativeNames({ dnsNames, ipAddresses }: AlternativeNames): pkijs.GeneralName[] {
  return [
    ...dnsNames.map((value) => new pkijs.GeneralName({ type: 2, value })),
    ...ipAddresses.map((address) => {
      const valueHex = addressBytes(address);
      return new pkijs.GeneralName({ type: 7, value: new asn1js.OctetString({ valueHex }) });
    }),
  ];
}

function readNames(names: readonly pkijs.GeneralName[]): AlternativeNames {
  const valuesOf = (type: number): readonly unknown[] =>
    names.filter((name) => name.type === type).map(({ value }): unknown => value);
  return {
    dnsNames: valuesOf(2).filter((value) => typeof value === "string"),
    ipAddresses: valuesOf(7)
      .filter((value) => value instanceof asn1js.OctetString)
      .map((value) => addressText(Buffer.from(value.valueBlock.valueHexView))),
  };
}

function altNames(parsed: unknown): readonly pkijs.GeneralName[] {
  return parsed instanceof pkijs.AltName ? parsed.altNames : [];
}

function keyUsage(bits: number, unusedBits: number): pkijs.Extension {
  const value = new asn1js.BitString({ valueHex: Uint8Array.of(bits).buffer, unusedBits });
  return extension(ids.keyUsage, value);
}

function extension(extnID: string, value: asn1js.BaseBlock, critical = true): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER(false) });
}

function issuerKey(keyId: string): asn1js.BaseBlock {
  return new pkijs.AuthorityKeyIdentifier({ keyIdentifier: octets(keyId) }).toSchema();
}

function octets(hex: string): asn1js.OctetString {
  return new asn1js.OctetString({ valueHex: Uint8Array.from(Buffer.from(hex, "hex")).buffer });
}

function hexOf({ valueBlock }: asn1js.OctetString): string {
  return Buffer.from(valueBlock.valueHexView).toString("hex");
}

function addressBytes(address: string): ArrayBuffer {
  if (isIPv4(address)) return Uint8Array.from(address.split("."), Number).buffer;
  if (!isIPv6(address) || address.includes("%")) throw new RangeError(`${address} is not an IP address`);
  return ipv6Bytes(address);
}

/** Sixteen bytes; the parser of URLs writes every spelling in groups of hexadecimal digits, with one gap of zeros at most. */
function ipv6Bytes(address: string): ArrayBuffer {
  const [head = "", tail = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Uint8Array.from([...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff])).buffer;
}

function groupsOf(text: string): readonly number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
