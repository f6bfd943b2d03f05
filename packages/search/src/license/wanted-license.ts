import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense } from "@quartermaster/api/licensing";
import {
  clusterLicenseCandidate,
  licensedCluster,
  licenseUpload,
  rankCandidates,
  readSignature,
  selectLicense,
} from "@quartermaster/license-selection";
import { type Live, type Why, digestOf } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import type { WantedLicense } from "./observe-license.ts";

export interface LicenseSource {
  readonly license: Live<ClusterLicense>;
  /** The Secret that it names, in its own namespace. */
  readonly secret: Live<Secret> | undefined;
  /** Of the engine: what a refusal may come from besides the license. */
  readonly engine: { readonly version: string; readonly hasTransportTls: boolean };
}

/** The license as the engine takes it, or why there is none. */
export function wantedLicense({ license, secret, engine }: LicenseSource): WantedLicense | Why {
  const { spec, metadata } = license;
  const { name, namespace } = metadata;
  const signature = readSignature({ ref: spec.signatureRef, namespace, secret });
  if (signature.kind === "fault")
    return { reason: signature.problem, message: `ClusterLicense ${name}: ${signature.message}.` };
  const file = { ...licenseUpload({ spec, source: name, signature }) };
  return {
    name,
    uid: spec.uid,
    type: spec.type,
    startMs: spec.startDate ?? spec.issueDate,
    expiryMs: spec.expiryDate,
    digest: digestOf({ file, engine }).slice(0, 32),
    file,
  };
}

/** The licenses that a cluster can have. */
export interface LicenseOffer {
  /** Of the cluster's own name: it needs no license controller. */
  readonly direct: Live<ClusterLicense> | undefined;
  /** The one that the license controller has chosen. */
  readonly associated: Live<ClusterLicense> | undefined;
}

/** Chooses between the two by the license controller's own function; where it keeps what runs, the direct one counts. */
export function chooseLicense(
  { direct, associated }: LicenseOffer,
  cluster: Pick<ElasticsearchCluster, "metadata" | "spec" | "status">,
  nowMs: number,
): Live<ClusterLicense> | undefined {
  if (direct === undefined || associated === undefined) return direct ?? associated;
  const own = clusterLicenseCandidate(direct);
  const other = clusterLicenseCandidate(associated);
  const { choice } = selectLicense({
    nowMs,
    cluster: licensedCluster(cluster),
    candidates: rankCandidates([own, other]),
  });
  return choice.kind === "use" && choice.candidate === other ? associated : direct;
}
