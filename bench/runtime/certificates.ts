import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createCa } from "@quartermaster/local-cluster";

/** Writes `tls.crt`, `tls.key` and `ca.crt` for a server on 127.0.0.1; gives the CA as PEM. */
export async function writeCertificates(directory: string): Promise<string> {
  const ca = await createCa("bench");
  const certificate = await ca.issue({ commonName: "bench", usage: "server", ipAddresses: ["127.0.0.1"] });
  writeFileSync(join(directory, "tls.crt"), certificate.certificatePem);
  writeFileSync(join(directory, "tls.key"), certificate.keyPem, { mode: 0o600 });
  writeFileSync(join(directory, "ca.crt"), ca.certificatePem);
  return ca.certificatePem;
}
