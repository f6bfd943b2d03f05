import {
  ALLOW_DOWNGRADE_ANNOTATION,
  clusterLicense,
  type ClusterLicense,
  DESIRED_LICENSE_LABEL,
  licenseAssociation,
  licenseNames,
  ON_LICENSE_LOSS_ANNOTATION,
} from "@quartermaster/api/licensing";
import { type DesiredLicense, licenseParameters, readDesiredLicense } from "@quartermaster/license-selection";
import { type Context, type JsonObject, type Live, type Why, isControlledBy } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";

import { followedData } from "../bounded-data.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import type { ClusterStatus } from "../seen.ts";
import type { LicenseAttempt, LicenseAttempts } from "./license-attempts.ts";
import { chooseLicense, wantedLicense } from "./wanted-license.ts";

/** The declared license of an Elasticsearch cluster, and the result of the last attempt to apply it. */
export interface LicenseSeen {
  /** Name of the ClusterLicense that counts for the cluster, readable or not; undefined where there is none. */
  readonly clusterLicense: string | undefined;
  /** The license to run under; undefined where no one requests one, or it cannot be read. */
  readonly wanted: WantedLicense | undefined;
  /** Why the license that is requested cannot be read. */
  readonly problem: Why | undefined;
  /** The label of the cluster. */
  readonly desired: DesiredLicense | undefined;
  readonly allowsDowngrade: boolean;
  readonly revertsToBasic: boolean;
  /** In this process; lost with it, which costs one more attempt. */
  readonly attempt: LicenseAttempt | undefined;
  /** Nodes that the license of the pool has room for; undefined where nothing enforces that. */
  readonly grantedNodes: number | undefined;
}

/** No one requests anything. */
export const NO_LICENSE: LicenseSeen = {
  clusterLicense: undefined,
  wanted: undefined,
  problem: undefined,
  desired: undefined,
  allowsDowngrade: false,
  revertsToBasic: false,
  attempt: undefined,
  grantedNodes: undefined,
};

/** A license that can be sent. */
export interface WantedLicense {
  /** Name of its ClusterLicense. */
  readonly name: string;
  readonly uid: string;
  readonly type: string;
  readonly startMs: number;
  readonly expiryMs: number;
  /** Of the file, the version of the engine and its TLS: with another one a refusal counts no more. */
  readonly digest: string;
  /** As the engine takes it, with the signature. */
  readonly file: JsonObject;
}

/** Where a license is read. */
export interface LicenseOptions {
  readonly ctx: Context;
  readonly attempts: LicenseAttempts;
  readonly nowMs: number;
}

/** Reads the license that the cluster is to have: all of it from the cluster's own namespace. */
export function observeLicense(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  parts: LicenseOptions,
): LicenseSeen {
  if (!distributionFacts[cluster.distribution].isLicensed) return NO_LICENSE;
  const { labels = {}, annotations = {} } = object.metadata;
  return {
    ...readLicense(object, cluster, parts),
    desired: readDesiredLicense(labels[DESIRED_LICENSE_LABEL] ?? ""),
    allowsDowngrade: annotations[ALLOW_DOWNGRADE_ANNOTATION] === "true",
    revertsToBasic: annotations[ON_LICENSE_LOSS_ANNOTATION] === "RevertToBasic",
    attempt: parts.attempts.of(cluster.uid),
    grantedNodes: grantedNodes(object, parts.ctx),
  };
}

/** Only the license controller's own association counts: it is controlled by the cluster, and says who made it. */
function grantedNodes(object: Live<ClusterObject>, ctx: Context): number | undefined {
  const association = ctx.follow(licenseAssociation.kind, {
    name: licenseNames(object.metadata.name).association,
  });
  if (association === undefined || !isControlledBy(association, object)) return undefined;
  const { origin, clusterRef, source } = association.spec;
  const isOurs = origin === "Controller" && clusterRef.name === object.metadata.name;
  return isOurs ? source?.grantedNodes : undefined;
}

function readLicense(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  parts: LicenseOptions,
): Pick<LicenseSeen, "wanted" | "problem" | "clusterLicense"> {
  const { license, isStale } = chosenLicense(object, parts);
  const found = { clusterLicense: license?.metadata.name };
  // Chosen for another license under the name: the controller will say again.
  if (license === undefined || isStale) return { ...found, wanted: undefined, problem: undefined };
  const secret = parts.ctx.follow(secrets, { name: license.spec.signatureRef.name }, followedData);
  const { version, security } = cluster;
  const engine = { version, hasTransportTls: security.transport.isEnabled };
  const read = wantedLicense({ license, secret, engine });
  return "file" in read
    ? { ...found, wanted: read, problem: undefined }
    : { ...found, wanted: undefined, problem: read };
}

interface ChosenLicense {
  readonly license: Live<ClusterLicense> | undefined;
  readonly isStale: boolean;
}

function chosenLicense(
  object: Live<ClusterObject>,
  { ctx, nowMs }: Pick<LicenseOptions, "ctx" | "nowMs">,
): ChosenLicense {
  const { name } = object.metadata;
  const names = licenseNames(name);
  const direct = ctx.follow(clusterLicense.kind, { name: names.direct });
  const spec = ctx.follow(licenseAssociation.kind, { name: names.association })?.spec;
  const isForUs = spec?.clusterRef.name === name;
  const pooled = ctx.follow(clusterLicense.kind, { name: isForUs ? spec.licenseRef.name : names.pool });
  const isStale = isForUs && spec.licenseRef.uid !== undefined && spec.licenseRef.uid !== pooled?.spec.uid;
  const associated = isStale ? undefined : pooled;
  const license = chooseLicense({ direct, associated }, object, nowMs);
  return license === undefined ? { license: pooled, isStale } : { license, isStale: false };
}

/**
 * Whether the engine is to be queried for its license now: while something is to be applied, when one has run out, and
 * before one that was lost makes way for basic. A cluster that
 * runs under the license it should costs no request.
 */
export function needsLicense(
  cluster: SearchCluster,
  license: LicenseSeen,
  { status, nowMs }: { readonly status: Partial<ClusterStatus>; readonly nowMs: number },
): boolean {
  if (!distributionFacts[cluster.distribution].isLicensed) return false;
  const { wanted, desired } = license;
  const { uid, type, rejected = [] } = status.license ?? {};
  if (uid === undefined || isLeaving(license, status.license, nowMs)) return true;
  if (wanted !== undefined)
    return wanted.uid !== uid && !rejected.some(({ digest }) => digest === wanted.digest);
  return desired !== undefined && desired !== type;
}

/** Whether the license has run out, or has been lost for so long that basic takes its place. */
function isLeaving(
  { revertsToBasic }: LicenseSeen,
  { expiryTime = "", lostSince = "" }: Partial<NonNullable<ClusterStatus["license"]>> = {},
  nowMs: number,
): boolean {
  if (Date.parse(expiryTime) <= nowMs) return true;
  return revertsToBasic && Date.parse(lostSince) + licenseParameters.deletionGraceMs <= nowMs;
}
