import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { System } from "../system/system.ts";
import type { CertificateAuthority } from "./certificate-authority.ts";
import { createAuthority } from "./certificate-authority.ts";

/** Where a certificate and its key lie. */
export interface CertificateFiles {
  readonly certificatePath: string;
  readonly keyPath: string;
}

/** Everything that says who is who in one cluster, written below its folder. */
export interface ClusterCredentials {
  readonly caPem: string;
  readonly caFiles: CertificateFiles;
  readonly frontProxyCaPath: string;
  readonly serviceAccountKeyPath: string;
  /** Bearer token of the cluster's administrator; tokens survive a proxy in between, client certificates do not. */
  readonly adminToken: string;
  readonly tokenFilePath: string;
  /** Certificate under which the API server calls kubelets. */
  readonly kubeletClient: CertificateFiles;
  /** Certificate under which the API server calls aggregated API servers. */
  readonly frontProxyClient: CertificateFiles;
  serving(name: string, names: ServingNames): Promise<CertificateFiles>;
  client(user: string, groups: readonly string[]): Promise<CertificateFiles>;
}

/** The names a server may be called by. */
export interface ServingNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Makes a new authority, the administrator's token and the API server's own certificates below `folder`/pki. */
export async function createCredentials(folder: string, system: System): Promise<ClusterCredentials> {
  const pki = join(folder, "pki");
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const ca = await createAuthority("quartermaster local cluster", system);
  const frontProxyCa = await createAuthority("quartermaster front proxy", system);
  const adminToken = system.randomHex(24);
  const client = async (user: string, groups: readonly string[]): Promise<CertificateFiles> =>
    await issueTo(join(pki, fileNameOf(user)), ca, {
      commonName: user,
      organizations: groups,
      usage: "client",
    });
  return {
    caPem: ca.certificatePem,
    caFiles: writePair(join(pki, "ca"), ca),
    frontProxyCaPath: writePair(join(pki, "front-proxy-ca"), frontProxyCa).certificatePath,
    serviceAccountKeyPath: writePrivate(join(pki, "service-account.key"), newServiceAccountKey()),
    adminToken,
    tokenFilePath: writePrivate(join(pki, "tokens.csv"), `${adminToken},admin,admin,"system:masters"\n`),
    kubeletClient: await client("kube-apiserver-kubelet-client", ["system:masters"]),
    frontProxyClient: await issueTo(join(pki, "front-proxy-client"), frontProxyCa, {
      commonName: "front-proxy-client",
      usage: "client",
    }),
    serving: async (name, names) =>
      await issueTo(join(pki, `${fileNameOf(name)}-serving`), ca, {
        commonName: name,
        ...names,
        usage: "server",
      }),
    client,
  };
}

/** A fresh P-256 key for signing service-account tokens, PEM. */
function newServiceAccountKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "sec1", format: "pem" }).toString();
}

async function issueTo(
  stem: string,
  authority: CertificateAuthority,
  request: Parameters<CertificateAuthority["issue"]>[0],
): Promise<CertificateFiles> {
  return writePair(stem, await authority.issue(request));
}

function writePair(
  stem: string,
  pair: { readonly certificatePem: string; readonly keyPem: string },
): CertificateFiles {
  return {
    certificatePath: writePrivate(`${stem}.crt`, pair.certificatePem),
    keyPath: writePrivate(`${stem}.key`, pair.keyPem),
  };
}

function writePrivate(path: string, content: string): string {
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

function fileNameOf(user: string): string {
  return user.replaceAll(/[^a-zA-Z0-9.-]/g, "-");
}
