import * as z from "zod";

import type { Credential } from "./cluster-config.ts";
import type { ClusterEntry, ExecEntry } from "./kubeconfig.ts";

const credentialSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

/** What a plugin gave. */
export interface IssuedCredential {
  readonly credential: Credential;
  /** Wall clock; undefined when it does not end. */
  readonly expiresAtMs: number | undefined;
}

/** Reads a plugin's output; undefined when it is not a credential of the version asked for. */
export function readExecCredential(output: string, apiVersion: string): IssuedCredential | undefined {
  const parsed = credentialSchema.safeParse(jsonOf(output));
  if (!parsed.success || parsed.data.apiVersion !== apiVersion) return undefined;
  const {
    token,
    clientCertificateData: certPem,
    clientKeyData: keyPem,
    expirationTimestamp,
  } = parsed.data.status;
  const hasCertificate = certPem !== undefined && keyPem !== undefined;
  if (token === undefined && !hasCertificate) return undefined;
  const expiresAtMs = expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp);
  if (Number.isNaN(expiresAtMs)) return undefined;
  return {
    credential: {
      ...(token === undefined ? {} : { token }),
      ...(hasCertificate ? { certificate: { certPem, keyPem } } : {}),
    },
    expiresAtMs,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What a plugin may know about the cluster: its entry, and the authorities as PEM wherever the entry has them from. */
export interface ClusterFacts {
  readonly entry: ClusterEntry;
  readonly caPem: string | undefined;
}

/** Text of KUBERNETES_EXEC_INFO. The cluster's facts are in it only where the configuration allows. */
export function execInfo({ apiVersion, provideClusterInfo }: ExecEntry, facts: ClusterFacts): string {
  const spec = {
    interactive: false,
    ...(provideClusterInfo === true ? { cluster: clusterInfo(facts) } : {}),
  };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
}

function clusterInfo({ entry, caPem }: ClusterFacts): Readonly<Record<string, unknown>> {
  const config = entry.extensions.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  return {
    server: entry.server,
    "tls-server-name": entry["tls-server-name"],
    "insecure-skip-tls-verify": entry["insecure-skip-tls-verify"],
    "certificate-authority-data": caPem === undefined ? undefined : Buffer.from(caPem).toString("base64"),
    "proxy-url": entry["proxy-url"],
    config,
  };
}
