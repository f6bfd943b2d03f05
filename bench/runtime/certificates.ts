import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createAuthority } from "@quartermaster/local-cluster";

/** Writes `tls.crt`, `tls.key` and `ca.crt` for a server on 127.0.0.1; gives the authority as PEM. */
export async function writeCertificates(folder: string): Promise<string> {
  const authority = await createAuthority("bench");
  const leaf = await authority.issue({ commonName: "bench", usage: "server", ipAddresses: ["127.0.0.1"] });
  writeFileSync(join(folder, "tls.crt"), leaf.certificatePem);
  writeFileSync(join(folder, "tls.key"), leaf.keyPem, { mode: 0o600 });
  writeFileSync(join(folder, "ca.crt"), authority.certificatePem);
  return authority.certificatePem;
}
