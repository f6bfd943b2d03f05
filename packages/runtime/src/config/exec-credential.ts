import { z } from "zod";

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

/** Text of KUBERNETES_EXEC_INFO: what the plugin may know. `caPem` is inline data as it stands in the file, base64. */
export function execInfo({ apiVersion, provideClusterInfo }: ExecEntry, cluster: ClusterEntry): string {
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}) };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
}

function clusterInfo(cluster: ClusterEntry): Readonly<Record<string, unknown>> {
  const { extensions, ...rest } = cluster;
  const config = extensions.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension;
  return { ...rest, ...(config === undefined ? {} : { config }) };
}
