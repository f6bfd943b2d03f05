import type { ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type LicenseAssociation,
  licenseAssociation,
  LICENSED_CLUSTER_LABEL,
  licenseNames,
} from "@quartermaster/api/licensing";
import type { Context, Kind, KubeObject, Live } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { clusterNeed } from "../pool/capacity.ts";
import type { PoolLicense } from "../pool/license-pool.ts";
import type { Binding } from "./decide-binding.ts";
import { licenseCopy, type MadeSecret, ownAssociation, secretsOf, signatureSecret } from "./license-copy.ts";

export interface BoundNow {
  readonly copy: Live<ClusterLicense> | undefined;
  readonly association: Live<LicenseAssociation> | undefined;
}

/** Where a binding is carried out. */
export interface BindOptions {
  readonly cluster: Live<ElasticsearchCluster>;
  readonly now: BoundNow;
  readonly nowMs: number;
  readonly ctx: Context;
  /** The EnterpriseLicense behind the cluster's license, if it enforces its limits. */
  readonly enforcing: PoolLicense | undefined;
}

/**
 * Puts the chosen license into the namespace of the cluster, signature first and association last, and clears away what the engine
 * no longer needs. Each write can be the last one before a crash.
 */
export async function bind({ target }: Binding, parts: BindOptions): Promise<void> {
  if (target.kind === "release") await release(parts);
  if (target.kind === "license") {
    const { license } = target;
    await associate(parts, { name: license.metadata.name, uid: license.spec.uid });
    if (appliedUid(parts.cluster) === license.spec.uid) await removeCopy(parts);
  }
  if (target.kind === "pool") await bindPool(target, parts);
  if (target.kind === "keep") await stopGrowth(parts);
}

/** Over the limit since before it was enforced: the cluster keeps its license, and the size that it has. */
async function stopGrowth({ cluster, now, ctx, enforcing }: BindOptions): Promise<void> {
  const { spec } = now.association ?? {};
  if (enforcing === undefined || spec?.source === undefined || spec.source.grantedNodes !== undefined) return;
  const grantedNodes = cluster.status?.capacity?.presentNodes ?? clusterNeed(cluster).nodes;
  const { association: name } = licenseNames(cluster.metadata.name);
  await ctx.apply(licenseAssociation.kind, {
    metadata: { name, labels: { [LICENSED_CLUSTER_LABEL]: cluster.metadata.name } },
    spec: { ...spec, source: { ...spec.source, grantedNodes } },
  });
}

async function bindPool(
  { pool, nested }: Binding["target"] & { kind: "pool" },
  parts: BindOptions,
): Promise<void> {
  const { cluster, now, ctx, nowMs } = parts;
  const secret = signatureSecret(cluster, nested);
  if (secret === undefined) return;
  const own = await keepSecret(secret, parts);
  const isApplied = appliedUid(cluster) === nested.spec.uid && now.copy?.spec.uid === nested.spec.uid;
  const others = madeSecrets(parts).filter(({ name }) => name !== own.name);
  if (isApplied) await removeSecrets(others, parts);
  await ctx.apply(clusterLicense.kind, licenseCopy(cluster, nested, [own, ...(isApplied ? [] : others)]));
  const license = { name: licenseNames(cluster.metadata.name).pool, uid: nested.spec.uid };
  await ctx.apply(
    licenseAssociation.kind,
    ownAssociation(cluster, license, { pool, before: now.association, nowMs }),
  );
}

/** Creates the Secret of a copy, unless the copy has it already. */
async function keepSecret(secret: Secret, parts: BindOptions): Promise<MadeSecret> {
  const { name } = secret.metadata;
  const { cluster, now, ctx } = parts;
  const known = madeSecrets(parts).find((each) => each.name === name) ?? { name };
  if (now.copy?.spec.signatureRef.name === name && !isSignatureMissing(cluster)) return known;
  return { name, uid: (await createSecret(secret, ctx)) ?? known.uid };
}

function madeSecrets({ now: { copy }, cluster }: BindOptions): readonly MadeSecret[] {
  return copy === undefined ? [] : secretsOf(copy, cluster);
}

async function associate(
  { cluster, now, nowMs, ctx }: BindOptions,
  license: { readonly name: string; readonly uid: string },
): Promise<void> {
  const parts = { pool: undefined, before: now.association, nowMs };
  await ctx.apply(licenseAssociation.kind, ownAssociation(cluster, license, parts));
}

/** The association last: while it is there the place in the pool is taken. */
async function release(parts: BindOptions): Promise<void> {
  await removeCopy(parts);
  const { association } = parts.now;
  if (association !== undefined) await removeExactly(licenseAssociation.kind, association, parts.ctx);
}

/** Its Secrets first: their names are known from the copy alone. */
async function removeCopy(parts: BindOptions): Promise<void> {
  const { copy } = parts.now;
  if (copy === undefined) return;
  await removeSecrets(madeSecrets(parts), parts);
  await removeExactly(clusterLicense.kind, copy, parts.ctx);
}

/**
 * Written without reading: licensing may not read Secrets of other namespaces. The name is a digest of the content. Returns the uid, of an object that was
 * there already too: the response to its creation was lost, and without a uid it could not be deleted safely later.
 */
async function createSecret(secret: Secret, ctx: Context): Promise<string | undefined> {
  const { client, signal } = ctx;
  const created = await client.createIfAbsent(secrets, secret, { signal, isMetadataEnough: true });
  return created === undefined ? await uidOfSecret(secret, ctx) : created.metadata.uid;
}

/** The response to a dry run of a deletion names the uid and no content. */
async function uidOfSecret(
  { metadata: { namespace = "", name } }: Secret,
  { client, signal }: Context,
): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}?dryRun=All`;
  const response = await client.raw({ method: "DELETE", path, signal });
  const { details } = (response ?? {}) as { readonly details?: { readonly uid?: string } };
  return details?.uid;
}

/** A Secret of the name with another uid is another client's, and stays; one without a recorded uid goes with the cluster, its owner. */
async function removeSecrets(
  made: readonly MadeSecret[],
  { cluster: { metadata }, ctx: { client, signal } }: Pick<BindOptions, "cluster" | "ctx">,
): Promise<void> {
  for (const { name, uid } of made) {
    if (uid === undefined) continue;
    const options = { signal, preconditions: { uid }, skipIfChanged: true };
    await client.deleteIfPresent(secrets, { namespace: metadata.namespace, name }, options);
  }
}

/** As it was seen: one that has lost its owner since is another client's. */
async function removeExactly<O extends KubeObject>(
  kind: Kind<O>,
  { metadata }: Live<O>,
  ctx: Context,
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const options = { signal: ctx.signal, preconditions: { uid, resourceVersion } };
  await ctx.client.deleteIfPresent(kind, metadata, options);
}

function appliedUid({ status }: ElasticsearchCluster): string | undefined {
  return status?.license?.state === "Applied" ? status.license.uid : undefined;
}

/** The search domain looked for the Secret and did not find it. */
function isSignatureMissing({ status }: ElasticsearchCluster): boolean {
  return status?.license?.reason === "SignatureMissing";
}
