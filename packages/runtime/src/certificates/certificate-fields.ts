import { isIPv4, isIPv6 } from "node:net";

import * as asn1js from "asn1js";
import * as pkijs from "pkijs";

/** A name that consists of a common name. */
export function commonName(value: string): pkijs.RelativeDistinguishedNames {
  const attribute = new pkijs.AttributeTypeAndValue({
    type: "2.5.4.3",
    value: new asn1js.Utf8String({ value }),
  });
  return new pkijs.RelativeDistinguishedNames({ typesAndValues: [attribute] });
}

/** May sign certificates and nothing below them that may: path length 0. */
export function authorityExtensions(): pkijs.Extension[] {
  const constraints = new pkijs.BasicConstraints({ cA: true, pathLenConstraint: 0 });
  return [extension("2.5.29.19", constraints.toSchema()), keyUsage(0x86, 1)];
}

/** May serve TLS. */
export function leafExtensions(): pkijs.Extension[] {
  const purpose = new pkijs.ExtKeyUsage({ keyPurposes: ["1.3.6.1.5.5.7.3.1"] });
  return [
    extension("2.5.29.19", new pkijs.BasicConstraints({ cA: false }).toSchema()),
    keyUsage(0x80, 7),
    extension("2.5.29.37", purpose.toSchema(), false),
  ];
}

/** The names and addresses that callers may use. */
export function alternativeNames({
  dnsNames,
  ipAddresses,
}: {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}): pkijs.Extension {
  const names = [
    ...dnsNames.map((value) => new pkijs.GeneralName({ type: 2, value })),
    ...ipAddresses.map((address) => {
      const valueHex = addressBytes(address);
      return new pkijs.GeneralName({ type: 7, value: new asn1js.OctetString({ valueHex }) });
    }),
  ];
  return extension("2.5.29.17", new pkijs.GeneralNames({ names }).toSchema(), false);
}

function keyUsage(bits: number, unusedBits: number): pkijs.Extension {
  return extension("2.5.29.15", new asn1js.BitString({ valueHex: Uint8Array.of(bits).buffer, unusedBits }));
}

function extension(extnID: string, value: asn1js.BaseBlock, critical = true): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER(false) });
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
