import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A certificate and its key, PEM. */
export interface TestCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A self-signed certificate, valid until 2049. */
export function makeTestCertificate(commonName: string): TestCertificate {
  const { key, keyPem } = newKey();
  const name = nameOf(commonName);
  const validity = der(
    0x30,
    der(0x17, Buffer.from("200101000000Z")),
    der(0x17, Buffer.from("491231235959Z")),
  );
  const body = der(0x30, der(0x02, Buffer.of(1)), ecdsaWithSha256, name, validity, name, publicInfo(key));
  return { certPem: pem("CERTIFICATE", signed(body, key)), keyPem };
}

/** A request for a certificate, and the key it is for. */
export function makeCertificateRequest(user: string): {
  readonly requestPem: string;
  readonly keyPem: string;
} {
  const { key, keyPem } = newKey();
  const body = der(0x30, der(0x02, Buffer.of(0)), nameOf(user), publicInfo(key), der(0xa0));
  return { requestPem: pem("CERTIFICATE REQUEST", signed(body, key)), keyPem };
}

function newKey(): { readonly key: KeyObject; readonly keyPem: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key: createPrivateKey(keyPem), keyPem };
}

const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from("2a8648ce3d040302", "hex")));

function signed(body: Buffer, key: KeyObject): Buffer {
  return der(0x30, body, ecdsaWithSha256, der(0x03, Buffer.of(0), sign("sha256", body, key)));
}

function nameOf(commonName: string): Buffer {
  const attribute = der(0x30, der(0x06, Buffer.from("550403", "hex")), der(0x0c, Buffer.from(commonName)));
  return der(0x30, der(0x31, attribute));
}

function publicInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x1_00) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
