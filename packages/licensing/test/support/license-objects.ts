import type { ElasticsearchCluster } from "@quartermaster/api";
import { type EnterpriseLicense, SIGNATURE_SECRET_TYPE } from "@quartermaster/api/licensing";
import { dayMs } from "@quartermaster/license-selection";
import type { Live } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import { signatureText } from "./signatures.ts";

/** The moment at which unit tests play. */
export const nowMs: number = Date.UTC(2025, 5, 1);

/** A cluster of a team. */
export function aCluster(
  name: string,
  {
    license,
    ...metadata
  }: { readonly license?: object; readonly labels?: object; readonly annotations?: object } = {},
): Live<ElasticsearchCluster> {
  return {
    metadata: { name, namespace: "team", uid: `${name}-k8s`, ...metadata },
    spec: { general: { version: "8.19.0" }, nodePools: [{ replicas: 3 }] },
    status: {
      engine: { transportTls: true, security: true, minVersion: "8.19.0" },
      capacity: { presentNodes: 3 },
      ...(license === undefined ? {} : { license }),
    },
  } as unknown as Live<ElasticsearchCluster>;
}

/** An EnterpriseLicense with one platinum license per uid. */
export function anEnterprise(
  name: string,
  uids: readonly string[],
  { namespace = "licenses", ...more }: { readonly namespace?: string; readonly capacityPolicy?: object } = {},
): Live<EnterpriseLicense> {
  const fields = {
    issueDate: nowMs - 100 * dayMs,
    expiryDate: nowMs + 300 * dayMs,
    issuedTo: "Example",
    issuer: "API",
  };
  return {
    metadata: { name, namespace, uid: `${name}-k8s`, resourceVersion: "1" },
    spec: {
      ...fields,
      uid: `${name}-uid`,
      type: "enterprise",
      maxInstances: 10,
      signatureRef: { name: `${name}-signatures` },
      clusterLicenses: uids.map((uid) => ({ ...fields, uid, type: "platinum", maxNodes: 100 })),
      ...more,
    },
  } as unknown as Live<EnterpriseLicense>;
}

/** The Secret with its signatures. */
export function theSignatures({ metadata, spec }: Live<EnterpriseLicense>): Live<Secret> {
  const uids = ["outer", ...(spec.clusterLicenses ?? []).map(({ uid }) => uid)];
  return {
    metadata: { name: spec.signatureRef.name, namespace: metadata.namespace },
    type: SIGNATURE_SECRET_TYPE,
    data: Object.fromEntries(uids.map((uid) => [uid, btoa(signatureText(uid))])),
  } as unknown as Live<Secret>;
}
