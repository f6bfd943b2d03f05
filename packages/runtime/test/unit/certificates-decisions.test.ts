import { beforeAll, expect, test } from "vitest";

import {
  caBundleIn,
  certificateRenewal,
  certificateTrust,
  type CertificateRenewal,
  type CertificateTrust,
  type CertifiedKey,
  issueCa,
  issueCertificate,
  type IssuedRequest,
  type TrustQuery,
  type WantedCertificate,
} from "../../src/certificates/index.ts";

const hourMs = 3_600_000;
const validity = { notBeforeMs: 0, notAfterMs: 9 * hourMs };
const like = {
  subject: { commonName: "node", organizations: ["o"] },
  usages: ["server"] as const,
  dnsNames: ["a.svc", "b.svc"],
  ipAddresses: ["fd00:0::1"],
} satisfies Partial<IssuedRequest>;

let ca: CertifiedKey;
let other: CertifiedKey;
let certificate: CertifiedKey;

beforeAll(async () => {
  const request = { subject: { commonName: "authority" }, serial: "01", validity };
  // Two with the same name, as after a rotation without names of their own: only the key tells them apart.
  [ca, other] = await Promise.all([issueCa(request), issueCa(request)]);
  certificate = await issueCertificate(ca, { ...like, serial: "02", validity });
});

interface RenewalCase {
  readonly name: string;
  readonly current?: () => CertifiedKey | undefined;
  readonly wanted?: () => Partial<WantedCertificate>;
  readonly nowMs?: number;
  readonly want: CertificateRenewal | undefined;
}

test.each<RenewalCase>([
  { name: "one that will do", want: undefined },
  { name: "names in another order", wanted: () => ({ dnsNames: ["b.svc", "a.svc"] }), want: undefined },
  { name: "an address in another spelling", wanted: () => ({ ipAddresses: ["fd00::0:1"] }), want: undefined },
  { name: "just before two thirds of its life", nowMs: 6 * hourMs - 1, want: undefined },
  { name: "two thirds of its life", nowMs: 6 * hourMs, want: "expiring" },
  { name: "its end", nowMs: 10 * hourMs, want: "expiring" },
  {
    name: "a margin of its own",
    wanted: () => ({ renewBeforeMs: hourMs }),
    nowMs: 6 * hourMs,
    want: undefined,
  },
  { name: "a clock that is behind", nowMs: -hourMs, want: undefined },
  { name: "none", current: () => undefined, want: "missing" },
  { name: "an empty Secret", current: () => ({ certificatePem: "", keyPem: "" }), want: "missing" },
  { name: "rubbish", current: () => ({ certificatePem: "x", keyPem: "x" }), want: "unreadable" },
  { name: "another key", current: () => ({ ...certificate, keyPem: other.keyPem }), want: "keyMismatch" },
  {
    name: "another CA of the same name",
    wanted: () => ({ caPem: other.certificatePem }),
    want: "authorityChanged",
  },
  {
    name: "one that another of the same name signed, between two that are trusted",
    wanted: () => ({ caPem: other.certificatePem + ca.certificatePem }),
    want: undefined,
  },
  {
    name: "another subject",
    wanted: () => ({ subject: { commonName: "node", organizations: ["p"] } }),
    want: "subjectChanged",
  },
  { name: "one name more", wanted: () => ({ dnsNames: ["a.svc", "b.svc", "c.svc"] }), want: "namesChanged" },
  { name: "one address less", wanted: () => ({ ipAddresses: [] }), want: "namesChanged" },
  { name: "one usage more", wanted: () => ({ usages: ["server", "client"] }), want: "usagesChanged" },
  { name: "another type of key", wanted: () => ({ key: "rsa-2048" }), want: "keyChanged" },
])("a certificate is issued again or kept: $name", ({ current, wanted, nowMs = hourMs, want }) => {
  const full = { ...like, caPem: ca.certificatePem, ...wanted?.() };
  expect(certificateRenewal(current === undefined ? certificate : current(), full, nowMs)).toBe(want);
});

interface TrustCase {
  readonly name: string;
  readonly pem?: () => string;
  readonly question?: () => Partial<TrustQuery>;
  readonly want: CertificateTrust;
}

test.each<TrustCase>([
  { name: "one of a CA in the bundle", want: "trusted" },
  { name: "a name it speaks for", question: () => ({ host: "b.svc" }), want: "trusted" },
  { name: "an address it speaks for", question: () => ({ host: "fd00::1" }), want: "trusted" },
  { name: "the common name alone", question: () => ({ host: "node" }), want: "wrongHost" },
  { name: "a usage it has", question: () => ({ usage: "server" }), want: "trusted" },
  { name: "a usage it does not have", question: () => ({ usage: "client" }), want: "wrongUsage" },
  { name: "a time before", question: () => ({ nowMs: -1 }), want: "notYetValid" },
  { name: "its last moment", question: () => ({ nowMs: 9 * hourMs }), want: "expired" },
  { name: "rubbish", pem: () => "rubbish", want: "unreadable" },
  {
    name: "a CA of the same name with another key",
    question: () => ({ bundlePem: other.certificatePem }),
    want: "unknownAuthority",
  },
  { name: "an empty bundle", question: () => ({ bundlePem: "" }), want: "unknownAuthority" },
  {
    name: "a bundle that holds the certificate itself, which is no CA",
    question: () => ({ bundlePem: certificate.certificatePem }),
    want: "unknownAuthority",
  },
])("whether a certificate is trusted: $name", ({ pem, question, want }) => {
  const full = { bundlePem: ca.certificatePem, nowMs: hourMs, ...question?.() };
  expect(certificateTrust(pem?.() ?? certificate.certificatePem, full)).toBe(want);
});

test.each<{ readonly name: string; readonly text: () => string | undefined; readonly want: object }>([
  { name: "no key", text: () => undefined, want: { kind: "missing" } },
  { name: "an empty value that an injector will fill", text: () => " \n", want: { kind: "missing" } },
  {
    name: "comments between CAs, one of them twice",
    text: () => `# one\n${ca.certificatePem}# two\n${other.certificatePem}${ca.certificatePem}`,
    want: { kind: "bundle", count: 2, expiresMs: 9 * hourMs },
  },
  { name: "something else", text: () => "hello", want: { kind: "invalid" } },
  {
    name: "a block that is cut off",
    text: () => ca.certificatePem + other.certificatePem.slice(0, 200),
    want: { kind: "invalid" },
  },
  {
    name: "a private key beside the CA",
    text: () => ca.certificatePem + ca.keyPem,
    want: { kind: "invalid" },
  },
  {
    name: "a certificate that is no CA's",
    text: () => ca.certificatePem + certificate.certificatePem,
    want: { kind: "invalid", message: "certificate 2 of ca.crt is not a CA's" },
  },
])("the CAs of a ConfigMap: $name", ({ text, want }) => {
  const value = text();
  const data = value === undefined ? {} : { "ca.crt": value };
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "trust" }, data };
  expect(caBundleIn(configMap)).toMatchObject(want);
});

test("a ConfigMap that is not there has no CAs", () => {
  expect(caBundleIn(undefined)).toEqual({ kind: "missing" });
});
