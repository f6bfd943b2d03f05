import { writeFileSync } from "node:fs";

import { stringify } from "yaml";

import type { CertificateFiles } from "../pki/cluster-credentials.ts";

/** What a kubeconfig says: where the API server is, which authority vouches for it, and who we are. */
export interface KubeconfigContent {
  readonly server: string;
  readonly caPem: string;
  readonly user: string;
  readonly credential: { readonly token: string } | CertificateFiles;
}

/** Writes a kubeconfig with one context that only its owner can read. Returns the path. */
export function writeKubeconfig(path: string, content: KubeconfigContent): string {
  writeFileSync(path, stringify(kubeconfig(content)), { mode: 0o600 });
  return path;
}

/** The kubeconfig as a plain object. */
export function kubeconfig({
  server,
  caPem,
  user,
  credential,
}: KubeconfigContent): Readonly<Record<string, unknown>> {
  const name = "quartermaster";
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name, cluster: { server, "certificate-authority-data": Buffer.from(caPem).toString("base64") } },
    ],
    users: [{ name: user, user: userEntry(credential) }],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
  };
}

function userEntry(credential: KubeconfigContent["credential"]): Readonly<Record<string, string>> {
  if ("token" in credential) return { token: credential.token };
  return { "client-certificate": credential.certificatePath, "client-key": credential.keyPath };
}
