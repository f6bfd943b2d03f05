import {
  type CertifiedKey,
  issueCa,
  issueCertificate,
  type IssuedRequest,
} from "@quartermaster/runtime/certificates";

const dayMs = 86_400_000;
let serials = 0;

function nextSerial(): string {
  serials += 1;
  return serials.toString(16).padStart(8, "0");
}

/** A CA and what it signs, for engines and servers of tests. Subjects are constant, keys are not. */
export class TestCa {
  readonly ca: CertifiedKey;

  private constructor(ca: CertifiedKey) {
    this.ca = ca;
  }

  static async create(): Promise<TestCa> {
    const startMs = Date.now() - dayMs;
    const ca = await issueCa({
      subject: { commonName: "ca", organizations: ["Test"] },
      serial: nextSerial(),
      validity: { notBeforeMs: startMs, notAfterMs: startMs + 365 * dayMs },
    });
    return new TestCa(ca);
  }

  get caPem(): string {
    return this.ca.certificatePem;
  }

  /** A leaf that holds `days` from yesterday on. */
  async issue(
    request: Pick<IssuedRequest, "usages" | "dnsNames" | "ipAddresses" | "subject">,
    days = 30,
  ): Promise<CertifiedKey> {
    const startMs = Date.now() - dayMs;
    const validity = { notBeforeMs: startMs, notAfterMs: startMs + days * dayMs };
    return await issueCertificate(this.ca, { ...request, serial: nextSerial(), validity });
  }
}
