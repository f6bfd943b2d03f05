import {
  type CertifiedKey,
  issueAuthority,
  issueCertificate,
  type LeafRequest,
} from "@quartermaster/runtime/certificates";

const dayMs = 86_400_000;
let serials = 0;

function nextSerial(): string {
  serials += 1;
  return serials.toString(16).padStart(8, "0");
}

/** An authority and what it signs, for engines and servers of tests. Subjects are constant, keys are not. */
export class TestAuthority {
  readonly authority: CertifiedKey;

  private constructor(authority: CertifiedKey) {
    this.authority = authority;
  }

  static async create(): Promise<TestAuthority> {
    const startMs = Date.now() - dayMs;
    const authority = await issueAuthority({
      subject: { commonName: "ca", organizations: ["Test"] },
      serial: nextSerial(),
      validity: { notBeforeMs: startMs, notAfterMs: startMs + 365 * dayMs },
    });
    return new TestAuthority(authority);
  }

  get caPem(): string {
    return this.authority.certificatePem;
  }

  /** A leaf that holds `days` from yesterday on. */
  async issue(
    request: Pick<LeafRequest, "usages" | "dnsNames" | "ipAddresses" | "subject">,
    days = 30,
  ): Promise<CertifiedKey> {
    const startMs = Date.now() - dayMs;
    const validity = { notBeforeMs: startMs, notAfterMs: startMs + days * dayMs };
    return await issueCertificate(this.authority, { ...request, serial: nextSerial(), validity });
  }
}
