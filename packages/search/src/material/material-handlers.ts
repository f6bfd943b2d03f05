import { randomBytes } from "node:crypto";

import { classify } from "@quartermaster/runtime";
import { issueCa, issueCertificate } from "@quartermaster/runtime/certificates";
import { secrets } from "@quartermaster/runtime/kinds";

import { EngineError } from "../engine/engine-error.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { labelsOf, ownerAnnotations } from "../owner-labels.ts";
import type { ActionHandlers, PerformContext } from "../perform-context.ts";
import type { ActionOf, CertificateOrder } from "../search-action.ts";
import { encode } from "../secret-text.ts";
import { givenAnnotations } from "../workload/cluster-labels.ts";

/** How keys, certificates and passwords are made and renewed. */
export const materialHandlers: ActionHandlers<
  "keepPassword" | "keepCa" | "issueCertificate" | "reloadCertificates"
> = { keepPassword, keepCa, issueCertificate: issueFor, reloadCertificates };

const dayMs = 86_400_000;
/** Clocks differ. */
const skewMs = 300_000;
const caLifeMs = 5 * 365 * dayMs;

/** A new CA. Its subject stays the same over generations: engines below 2.19 take no certificate of another issuer. */
async function newCa(cluster: SearchCluster, nowMs: number): Promise<Readonly<Record<string, string>>> {
  const { certificatePem, keyPem } = await issueCa({
    subject: { commonName: "ca", organizationalUnits: [cluster.name], organizations: [cluster.namespace] },
    serial: randomBytes(16).toString("hex"),
    validity: { notBeforeMs: nowMs - skewMs, notAfterMs: nowMs + caLifeMs },
  });
  return { "ca.crt": certificatePem, "ca.key": keyPem };
}

/** Issues a certificate into its Secret, which the cluster owns. Pair, trust and the request they answer are written together. */
async function issueFor(
  { ca, subject, usages, dnsNames, durationMs, secretName, trustPem, requested }: CertificateOrder,
  { ctx, cluster, nowMs }: PerformContext,
): Promise<void> {
  const issuedMs = nowMs();
  const { certificatePem, keyPem } = await issueCertificate(ca, {
    subject,
    usages,
    dnsNames,
    serial: randomBytes(16).toString("hex"),
    validity: { notBeforeMs: issuedMs - skewMs, notAfterMs: issuedMs + durationMs },
  });
  await ctx.apply(secrets, {
    metadata: {
      name: secretName,
      labels: { ...cluster.common?.labels, ...labelsOf(cluster) },
      ...givenAnnotations({
        ...cluster.common?.annotations,
        ...(requested === undefined ? {} : { [ownerAnnotations.renewed]: requested }),
      }),
    },
    type: "Opaque",
    data: encode({ "tls.crt": certificatePem, "tls.key": keyPem, "ca.crt": trustPem }),
  });
}

/** Makes a node read its certificates again. Neither a success nor a refusal says what it serves: the sample that follows does. */
async function reloadCertificates(
  { node, layers }: ActionOf<"reloadCertificates">,
  { engine, resample }: PerformContext,
): Promise<void> {
  for (const layer of layers) {
    try {
      await engine().reloadCertificates(node, layer);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
  resample();
}

/** Makes the Secret of an account. */
async function keepPassword(
  { name, username, alsoRandom = [] }: ActionOf<"keepPassword">,
  context: PerformContext,
): Promise<void> {
  const further = Object.fromEntries(alsoRandom.map((key) => [key, newPassword()] as const));
  await keepSecret(name, { ...further, username, password: newPassword() }, context);
}

/** Makes the Secret of the CA. */
async function keepCa({ name }: ActionOf<"keepCa">, context: PerformContext): Promise<void> {
  await keepSecret(name, await newCa(context.cluster, context.nowMs()), context);
}

/** 192 bits. */
function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/** Makes a Secret that outlives the cluster: no owner reference, so no cascade can take it. Never overwrites one. */
async function keepSecret(
  name: string,
  fields: Readonly<Record<string, string>>,
  { ctx, cluster }: PerformContext,
): Promise<void> {
  try {
    await ctx.client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        namespace: cluster.namespace,
        labels: { ...cluster.common?.labels, ...labelsOf(cluster) },
        ...givenAnnotations({ ...cluster.common?.annotations }),
      },
      type: "Opaque",
      data: encode(fields),
    });
  } catch (error) {
    // Another client was faster: whether the Secret is ours is decided by the next reconcile.
    if (classify(error) !== "alreadyExists") throw error;
  }
}
