import type { ElasticsearchCluster } from "@quartermaster/api";
import {
  ALLOW_DOWNGRADE_ANNOTATION,
  DESIRED_LICENSE_LABEL,
  ON_LICENSE_LOSS_ANNOTATION,
} from "@quartermaster/api/licensing";

import type { CurrentLicense, LicensedCluster } from "./judge-candidate.ts";
import { readDesiredLicense } from "./license-type.ts";

/** The facts of a cluster about licenses: its spec, and what the search domain reports of its engine. */
export function licensedCluster(
  cluster: Pick<ElasticsearchCluster, "metadata" | "spec" | "status">,
): LicensedCluster {
  const { metadata, spec, status } = cluster;
  const { minVersion, transportTls, security, fips } = status?.engine ?? {};
  return {
    ...settings(metadata),
    minVersion: minVersion ?? spec.general.version,
    transportTls,
    security,
    fips,
    current: currentLicense(cluster),
    ...history(status?.license),
  };
}

/** History of its licenses. */
function history({
  rejected = [],
  lostSince = "",
}: NonNullable<ElasticsearchCluster["status"]>["license"] = {}): Pick<
  LicensedCluster,
  "rejectedUids" | "lostSinceMs"
> {
  const lostSinceMs = Date.parse(lostSince);
  const rejectedUids = new Set(rejected.map(({ uid }) => uid));
  return Number.isNaN(lostSinceMs) ? { rejectedUids } : { rejectedUids, lostSinceMs };
}

function settings({
  labels = {},
  annotations = {},
}: ElasticsearchCluster["metadata"]): Pick<LicensedCluster, "desired" | "allowsDowngrade" | "onLoss"> {
  const label = labels[DESIRED_LICENSE_LABEL];
  return {
    desired: label === undefined ? undefined : (readDesiredLicense(label) ?? "invalid"),
    allowsDowngrade: annotations[ALLOW_DOWNGRADE_ANNOTATION] === "true",
    onLoss: annotations[ON_LICENSE_LOSS_ANNOTATION] === "RevertToBasic" ? "RevertToBasic" : "Keep",
  };
}

/** The engine's license by the cluster's status; undefined if it could not be queried. */
function currentLicense({ status }: Pick<ElasticsearchCluster, "status">): CurrentLicense | undefined {
  const license = status?.license;
  if (license === undefined) return { type: "missing", isActive: false };
  const { uid, type, expiryTime, state } = license;
  if (state === "Unknown") return undefined;
  if (uid === undefined || type === undefined) return { type: "missing", isActive: false };
  const expiryMs = expiryTime === undefined ? Number.NaN : Date.parse(expiryTime);
  const isActive = state !== "Expired";
  return Number.isNaN(expiryMs) ? { uid, type, isActive } : { uid, type, expiryMs, isActive };
}
