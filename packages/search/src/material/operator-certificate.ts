import { X509Certificate } from "node:crypto";

import type { NamedField } from "@quartermaster/api";
import { certificatesIn, type CertifiedKey } from "@quartermaster/runtime/certificates";

import { needsServedCertificates } from "../certificates/served-certificates.ts";
import { outdatedPods } from "../facts/node-facts.ts";
import type { Seen } from "../seen.ts";

type Known = Pick<Seen, "cluster" | "material" | "status" | "pods" | "statefulSets">;

/**
 * The author's client certificate, once every node takes it for an administrator's: its subject is declared as one, a CA that nodes trust
 * has signed it, and all nodes run with both. Until then the operator uses its own, which nodes always take.
 */
export function operatorCertificate(known: Known): CertifiedKey | undefined {
  const { operatorClient: pair } = known.material;
  if (pair === undefined || refusalOf(known, pair) !== undefined) return undefined;
  return needsServedCertificates(known) || outdatedPods(known).length > 0 ? undefined : pair;
}

/** Why the author's client certificate is not used; none where there is none, or it is. */
export function unusedOperatorCertificate(known: Known): readonly NamedField[] {
  const { operatorClient: pair } = known.material;
  const why = pair === undefined ? undefined : refusalOf(known, pair);
  return why === undefined ? [] : [{ path: "spec.security.config.adminSecret", why }];
}

function refusalOf({ cluster, material }: Known, { certificatePem }: CertifiedKey): string | undefined {
  const certificate = new X509Certificate(certificatePem);
  const name = nameOf(certificate);
  if (!cluster.security.adminDns.some((dn) => isSameName(partsOf(dn), name)))
    return `Its subject is not in security.tls.http.adminDn: add ${name.join(",")}.`;
  const trusted = [material.ca.pair?.certificatePem ?? "", ...material.foreignTrust].flatMap(certificatesIn);
  const isTrusted = trusted.some((pem) => isIssuedBy(certificate, pem));
  return isTrusted
    ? undefined
    : "No CA that the nodes trust has signed its certificate: put the CA into ca.crt of the Secret.";
}

function isIssuedBy(certificate: X509Certificate, caPem: string): boolean {
  const ca = new X509Certificate(caPem);
  return certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
}

/** As in RFC 2253, the special part first: Node writes one part per line, the general one first. */
function nameOf({ subject }: X509Certificate): readonly string[] {
  return (subject ?? "").split("\n").toReversed();
}

/** Commas within a part are escaped. */
function partsOf(dn: string): readonly string[] {
  return dn.split(/(?<!\\),/).map((part) => part.trim());
}

function isSameName(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}
