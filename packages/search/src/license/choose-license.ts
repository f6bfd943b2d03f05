import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense } from "@quartermaster/api/licensing";
import {
  clusterLicenseCandidate,
  licensedCluster,
  rankCandidates,
  selectLicense,
} from "@quartermaster/license-selection";
import type { Live } from "@quartermaster/runtime";

/** The licences that a cluster can have. */
export interface LicenseOffer {
  /** Of the cluster's own name: it needs no licence controller. */
  readonly direct: Live<ClusterLicense> | undefined;
  /** The one that the licence controller has chosen. */
  readonly associated: Live<ClusterLicense> | undefined;
}

/** Chooses between the two by the licence controller's own function; where it keeps what runs, the direct one counts. */
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
