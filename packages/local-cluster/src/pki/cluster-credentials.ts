import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type CertifiedKey, issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { stringify } from "yaml";

import { realSystem, type System } from "../system/system.ts";

/** Where a certificate and its key lie. */
export interface CertificateFiles {
  readonly certificatePath: string;
  readonly keyPath: string;
}

/** Everything that says who is who in one cluster, written below its directory. */
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

/** Makes a new CA, the administrator's token and the API server's own certificates below `directory`/pki. */
export async function createCredentials(directory: string, system: System): Promise<ClusterCredentials> {
  const pki = join(directory, "pki");
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  const ca = await createCa("quartermaster local cluster", system);
  const frontProxyCa = await createCa("quartermaster front proxy", system);
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
  issuer: ClusterCa,
  request: Parameters<ClusterCa["issue"]>[0],
): Promise<CertificateFiles> {
  return writePair(stem, await issuer.issue(request));
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

/** Whom a certificate is about. Kubernetes reads the common name as the user and each organization as a group. */
export interface IssuedRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: "client" | "server";
}

/** Signs certificates for one cluster; the key never leaves its directory. */
export interface ClusterCa extends CertifiedKey {
  issue(request: IssuedRequest): Promise<CertifiedKey>;
}

/** Makes a self-signed P-256 CA that is valid from a minute ago for ten years, as are the certificates it issues. */
export async function createCa(commonName: string, system: System = realSystem): Promise<ClusterCa> {
  // A certificate with its issuer's name would be taken for self-signed.
  const ca = await issueCa({ subject: { commonName: `${commonName} authority` }, ...termsOf(system) });
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

function termsOf(system: System): Pick<Parameters<typeof issueCa>[0], "serial" | "validity"> {
  const nowMs = system.nowMs();
  return {
    serial: system.randomHex(15),
    validity: { notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + tenYearsMs },
  };
}

const tenYearsMs = 10 * 365 * 24 * 3600 * 1000;

/** Content of a kubeconfig: where the API server is, which CA vouches for it, and who we are. */
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
