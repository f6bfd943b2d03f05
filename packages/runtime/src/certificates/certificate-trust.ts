import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

import type { CertificateUsage } from "./certificate-extensions.ts";
import { certificatesIn, readCertificate } from "./read-certificate.ts";

/** By whom and for what a certificate is to be trusted. */
export interface TrustQuery {
  /** PEM of the CAs. */
  readonly bundlePem: string;
  readonly nowMs: number;
  readonly usage?: CertificateUsage;
  /** The name or address that a caller uses. */
  readonly host?: string;
}

/** Whether a certificate is trusted, or the first reason why not. */
export type CertificateTrust =
  | "trusted"
  | "unreadable"
  | "notYetValid"
  | "expired"
  | "wrongUsage"
  | "wrongHost"
  /** No CA of the bundle signed it, directly or over the certificates behind it. */
  | "unknownAuthority";

/** Whether a certificate, with the chain behind it in the same PEM text, is trusted by the bundle. Revocation is not looked at. */
export function certificateTrust(certificatePem: string, question: TrustQuery): CertificateTrust {
  const facts = readCertificate(certificatePem);
  const [cert, ...chain] = parsedIn(certificatePem);
  if (facts === undefined || cert === undefined) return "unreadable";
  const { nowMs, usage, host, bundlePem } = question;
  if (nowMs < facts.validity.notBeforeMs) return "notYetValid";
  if (nowMs >= facts.validity.notAfterMs) return "expired";
  if (usage !== undefined && !facts.usages.includes(usage)) return "wrongUsage";
  if (host !== undefined && !speaksFor(cert, host)) return "wrongHost";
  const roots = parsedIn(bundlePem);
  return isSigned(cert, { roots, chain, nowMs, depth: 0 }) ? "trusted" : "unknownAuthority";
}

interface Chain {
  readonly roots: readonly X509Certificate[];
  readonly chain: readonly X509Certificate[];
  readonly nowMs: number;
  readonly depth: number;
}

/** Longer chains than anybody uses, which could be made to cost us time. */
const depthLimit = 4;

function isSigned(certificate: X509Certificate, { roots, chain, nowMs, depth }: Chain): boolean {
  if (depth > depthLimit) return false;
  const signs = (issuer: X509Certificate): boolean =>
    issuer.ca && holds(issuer, nowMs) && certificate.checkIssued(issuer) && isVerified(certificate, issuer);
  if (roots.some(signs)) return true;
  return chain
    .slice(0, depthLimit)
    .some((issuer) => signs(issuer) && isSigned(issuer, { roots, chain, nowMs, depth: depth + 1 }));
}

function isVerified(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A key of another type than the signature.
    return false;
  }
}

function holds({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime();
}

function speaksFor(certificate: X509Certificate, host: string): boolean {
  const found =
    isIP(host) === 0 ? certificate.checkHost(host, { subject: "never" }) : certificate.checkIP(host);
  return found !== undefined;
}

function parsedIn(pem: string): readonly X509Certificate[] {
  return certificatesIn(pem).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      // One that cannot be read vouches for no one.
      return [];
    }
  });
}
