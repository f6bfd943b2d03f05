import { canonicalAddress } from "./certificate-extensions.ts";
import type { CertifiedKey } from "./certificate-source.ts";
import { certificateTrust } from "./certificate-trust.ts";
import type { IssuedRequest } from "./issue-certificate.ts";
import { type CertificateFacts, isPair, readCertificate } from "./read-certificate.ts";
import { isSameSubject } from "./subject.ts";

/** A certificate as it should be, and its issuer. */
export interface WantedCertificate extends Omit<IssuedRequest, "serial" | "validity"> {
  /** PEM of the CA that signs now. A certificate of an earlier one is renewed. */
  readonly caPem: string;
  /** How long before its end (default: a third of its life). */
  readonly renewBeforeMs?: number;
}

/** Why a certificate has to be issued again. */
export type CertificateRenewal =
  | "missing"
  | "unreadable"
  | "keyMismatch"
  | "expiring"
  | "authorityChanged"
  | "subjectChanged"
  | "namesChanged"
  | "usagesChanged"
  | "keyChanged";

/** Why the certificate has to be issued again, the most urgent cause first; undefined when it will do. */
export function certificateRenewal(
  current: CertifiedKey | undefined,
  wanted: WantedCertificate,
  nowMs: number,
): CertificateRenewal | undefined {
  if (current === undefined || (current.certificatePem === "" && current.keyPem === "")) return "missing";
  const facts = readCertificate(current.certificatePem);
  if (facts === undefined) return "unreadable";
  if (!isPair(current)) return "keyMismatch";
  if (nowMs >= renewalDueMs(facts, wanted)) return "expiring";
  const trust = certificateTrust(current.certificatePem, { bundlePem: wanted.caPem, nowMs });
  // One that does not hold yet was issued by a replica whose clock is ahead: it will be valid soon.
  if (trust === "unknownAuthority") return "authorityChanged";
  return difference(facts, wanted);
}

/** When a certificate is due for renewal. */
export function renewalDueMs(
  { validity }: Pick<CertificateFacts, "validity">,
  { renewBeforeMs }: Pick<WantedCertificate, "renewBeforeMs">,
): number {
  const { notBeforeMs, notAfterMs } = validity;
  return notAfterMs - (renewBeforeMs ?? (notAfterMs - notBeforeMs) / 3);
}

function difference(facts: CertificateFacts, wanted: WantedCertificate): CertificateRenewal | undefined {
  const { subject, dnsNames = [], ipAddresses = [], usages, key = "ecdsa-p256" } = wanted;
  if (!isSameSubject(facts.subject, subject)) return "subjectChanged";
  const hasNames = isSameSet(facts.dnsNames, dnsNames);
  const hasAddresses = isSameSet(facts.ipAddresses, ipAddresses.map(canonicalAddress));
  if (!hasNames || !hasAddresses) return "namesChanged";
  if (!isSameSet(facts.usages, usages)) return "usagesChanged";
  return facts.key === key ? undefined : "keyChanged";
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}
