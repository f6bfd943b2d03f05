import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";

import { expect, test } from "vitest";

import {
  type CertificateRequest,
  type CertifiedKey,
  distinguishedName,
  issueCa,
  issueCertificate,
  type KeyChoice,
  readCertificate,
  type Subject,
} from "../../src/certificates/index.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
const example = { organizations: ["example"], organizationalUnits: ["search", "eu"] };

async function caOf(key?: KeyChoice): Promise<CertifiedKey> {
  const request: CertificateRequest = { subject: { commonName: "the authority" }, serial: "01", validity };
  return await issueCa({ ...request, ...(key === undefined ? {} : { key }) });
}

/** What OpenSSL says; undefined where there is none. */
function openssl(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const hasOpenssl = openssl("version") !== undefined;

test.for<{ readonly ca: KeyChoice; readonly certificate: KeyChoice; readonly hash: string }>([
  { ca: "ecdsa-p256", certificate: "ecdsa-p256", hash: "ecdsa-with-SHA256" },
  { ca: "ecdsa-p384", certificate: "rsa-2048", hash: "ecdsa-with-SHA384" },
  { ca: "rsa-3072", certificate: "ecdsa-p384", hash: "sha256WithRSAEncryption" },
  { ca: "rsa-2048", certificate: "rsa-2048", hash: "sha256WithRSAEncryption" },
])(
  "OpenSSL accepts a node certificate with $leaf of a CA with $ca",
  async ({ ca, certificate, hash }, context) => {
    if (!hasOpenssl) context.skip("there is no openssl on this machine");
    await using directory = await makeTempDirectory();
    const issuer = await caOf(ca);
    const node = await issueCertificate(issuer, {
      subject: { commonName: "node-0", ...example },
      serial: "0a",
      validity,
      key: certificate,
      usages: ["server", "client"],
      dnsNames: ["node-0.search.svc", "*.search.svc"],
      ipAddresses: ["10.0.0.1", "fd00::1"],
    });
    const at = (name: string): string => join(directory.path, name);
    const [caPath, path, keyPath] = [at("ca.pem"), at("node.pem"), at("node.key")];
    await writeFile(caPath, issuer.certificatePem);
    await writeFile(path, node.certificatePem);
    await writeFile(keyPath, node.keyPem);
    const verify = ["verify", "-x509_strict", "-CAfile", caPath];
    for (const purpose of ["sslserver", "sslclient"]) {
      expect(openssl(...verify, "-purpose", purpose, path)).toContain("node.pem: OK");
    }
    expect(openssl(...verify, "-verify_hostname", "x.search.svc", path)).toContain("OK");
    expect(openssl(...verify, "-verify_ip", "fd00::1", path)).toContain("OK");
    const text = openssl("x509", "-in", path, "-noout", "-text", "-nameopt", "RFC2253");
    expect(text).toContain("Subject: CN=node-0,OU=eu,OU=search,O=example");
    expect(text).toContain(`Signature Algorithm: ${hash}`);
    expect(text).toMatch(/Subject Key Identifier: *\n[^]*Authority Key Identifier: *\n/);
    expect(openssl("pkey", "-in", keyPath, "-noout", "-check")).toContain("Key is valid");
  },
);

test("a server requests the administrator's certificate and learns its name", async () => {
  const ca = await caOf();
  const server = await issueCertificate(ca, {
    subject: { commonName: "http" },
    usages: ["server"],
    serial: "02",
    validity,
    dnsNames: ["localhost"],
  });
  const admin = await issueCertificate(ca, {
    subject: { commonName: "admin", ...example },
    usages: ["client"],
    serial: "03",
    validity,
    key: "rsa-2048",
  });
  const trust = { ca: ca.certificatePem, minVersion: "TLSv1.2" } as const;
  await using listener = createServer({
    ...trust,
    cert: server.certificatePem,
    key: server.keyPem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const secured = once(listener, "secureConnection") as Promise<[TLSSocket]>;
  const location = { host: "127.0.0.1", servername: "localhost", port };
  const client = connect({ ...trust, ...location, cert: admin.certificatePem, key: admin.keyPem });
  const [socket] = await secured;
  expect(socket.authorized).toBe(true);
  expect(socket.getPeerCertificate().subject).toEqual({ CN: "admin", O: "example", OU: ["search", "eu"] });
  client.destroy();
  // A certificate that may only serve is not taken from a client.
  const next = once(listener, "secureConnection") as Promise<[TLSSocket]>;
  const other = connect({ ...trust, ...location, cert: server.certificatePem, key: server.keyPem });
  const [stranger] = await next;
  expect(stranger).toMatchObject({ authorized: false, authorizationError: "INVALID_PURPOSE" });
  other.destroy();
});

test("what was issued is read back", async () => {
  const ca = await caOf("ecdsa-p384");
  const requested = {
    subject: { commonName: "node-0", ...example },
    usages: ["server", "client"] as const,
    dnsNames: ["a.example.org"],
    ipAddresses: ["10.0.0.1", "fd00::a"],
  };
  const { certificatePem } = await issueCertificate(ca, { ...requested, serial: "0b", validity });
  const issuer = readCertificate(ca.certificatePem);
  expect(readCertificate(`a comment\n${certificatePem}${ca.certificatePem}`)).toMatchObject({
    ...requested,
    issuer: { commonName: "the authority" },
    isCa: false,
    serial: "4d0b",
    key: "ecdsa-p256",
    validity: {
      notBeforeMs: Math.floor(validity.notBeforeMs / 1_000) * 1_000,
      notAfterMs: Math.floor(validity.notAfterMs / 1_000) * 1_000,
    },
    authorityKeyId: issuer?.subjectKeyId,
  });
  expect(issuer).toMatchObject({ isCa: true, usages: [], key: "ecdsa-p384" });
  expect(readCertificate("-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n")).toBeUndefined();
  expect(readCertificate("")).toBeUndefined();
});

test.each<{ readonly subject: Subject; readonly want: string }>([
  { subject: { commonName: "admin" }, want: "CN=admin" },
  { subject: { commonName: "admin", ...example }, want: "CN=admin,OU=eu,OU=search,O=example" },
  { subject: { commonName: 'a,b+"c' }, want: String.raw`CN=a\,b\+\"c` },
  { subject: { commonName: "#x " }, want: String.raw`CN=\#x\ ` },
])("the distinguished name $want", ({ subject, want }) => {
  expect(distinguishedName(subject)).toBe(want);
});

test.each([
  { name: "a serial that is no hex", more: { serial: "xyz" } },
  { name: "a serial of 20 bytes", more: { serial: "0".repeat(40) } },
  { name: "an end before the beginning", more: { validity: { notBeforeMs: 2_000, notAfterMs: 1_000 } } },
  { name: "an empty name", more: { subject: { commonName: "" } } },
  { name: "a name of 65 characters", more: { subject: { commonName: "x".repeat(65) } } },
])("refuses to issue $name", async ({ more }) => {
  const request = { subject: { commonName: "x" }, serial: "01", validity };
  await expect(issueCa({ ...request, ...more })).rejects.toThrow(RangeError);
});
