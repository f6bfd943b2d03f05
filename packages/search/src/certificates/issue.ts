import { randomBytes } from "node:crypto";

import type { Context } from "@quartermaster/runtime";
import { issueAuthority, issueCertificate } from "@quartermaster/runtime/certificates";
import { secrets } from "@quartermaster/runtime/kinds";

import { labelsOf, markAnnotations } from "../marks.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import type { LeafOrder } from "../search-action.ts";
import { encode } from "../secret-text.ts";

const dayMs = 86_400_000;
/** Clocks differ. */
const skewMs = 300_000;
const authorityLifeMs = 5 * 365 * dayMs;

/** A new authority. Its subject stays the same over generations: engines below 2.19 take no certificate of another issuer. */
export async function newAuthority(
  cluster: SearchCluster,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const { certificatePem, keyPem } = await issueAuthority({
    subject: { commonName: "ca", organizationalUnits: [cluster.name], organizations: [cluster.namespace] },
    serial: randomBytes(16).toString("hex"),
    validity: { notBeforeMs: nowMs - skewMs, notAfterMs: nowMs + authorityLifeMs },
  });
  return { "ca.crt": certificatePem, "ca.key": keyPem };
}

/** Issues a certificate into its Secret, which the cluster owns. Pair, trust and what it was asked with are written at once. */
export async function issueLeaf(
  { authority, subject, usages, dnsNames, durationMs, secretName, trustPem, asked }: LeafOrder,
  cluster: SearchCluster,
  { ctx, nowMs }: { readonly ctx: Context; readonly nowMs: number },
): Promise<void> {
  const { certificatePem, keyPem } = await issueCertificate(authority, {
    subject,
    usages,
    dnsNames,
    serial: randomBytes(16).toString("hex"),
    validity: { notBeforeMs: nowMs - skewMs, notAfterMs: nowMs + durationMs },
  });
  await ctx.apply(secrets, {
    metadata: {
      name: secretName,
      labels: labelsOf(cluster),
      ...(asked === undefined ? {} : { annotations: { [markAnnotations.renewed]: asked } }),
    },
    type: "Opaque",
    data: encode({ "tls.crt": certificatePem, "tls.key": keyPem, "ca.crt": trustPem }),
  });
}
