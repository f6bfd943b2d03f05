import { type CertifiedKey, issueAuthority, issueCertificate } from "@quartermaster/runtime/certificates";

import { realSystem, type System } from "../system/system.ts";

/** Whom a certificate is about. Kubernetes reads the common name as the user and each organization as a group. */
export interface LeafRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: "client" | "server";
}

/** Signs certificates for one cluster; the key never leaves its directory. */
export interface CertificateAuthority extends CertifiedKey {
  issue(request: LeafRequest): Promise<CertifiedKey>;
}

/** Makes a self-signed P-256 CA that is valid from a minute ago for ten years, as are the certificates it issues. */
export async function createAuthority(
  commonName: string,
  system: System = realSystem,
): Promise<CertificateAuthority> {
  // A certificate with its issuer's name would be taken for self-signed.
  const ca = await issueAuthority({ subject: { commonName: `${commonName} authority` }, ...termsOf(system) });
  return {
    ...ca,
    issue: async ({ commonName: name, organizations = [], usage, ...names }) =>
      await issueCertificate(ca, {
        subject: { commonName: name, organizations },
        usages: [usage],
        ...names,
        ...termsOf(system),
      }),
  };
}

function termsOf(system: System): Pick<Parameters<typeof issueAuthority>[0], "serial" | "validity"> {
  const nowMs = system.nowMs();
  return {
    serial: system.randomHex(15),
    validity: { notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + tenYearsMs },
  };
}

const tenYearsMs = 10 * 365 * 24 * 3600 * 1000;
