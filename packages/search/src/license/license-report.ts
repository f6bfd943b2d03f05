import { timestampOf } from "@quartermaster/runtime";

import type { LaneDecision } from "../lane.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import { appliedFrom, lostLicense, rejections, runningLicense } from "./lost-license.ts";

type LicenseReport = NonNullable<ClusterStatus["license"]>;

/** Which license the engine runs under, and how the one that is requested stands. */
export function licenseReport(
  seen: Seen,
  decision: LaneDecision | undefined,
  now: Date,
): LicenseReport | undefined {
  if (!distributionFacts[seen.cluster.distribution].isLicensed) return undefined;
  const running = runningLicense(seen, now);
  // One that runs after all is refused no more.
  const refused = rejections(seen).filter(({ uid }) => uid !== running?.uid);
  const outcome = decision?.outcome;
  const why = outcome === undefined || outcome.kind === "settled" ? undefined : outcome.why;
  return {
    ...(running === undefined
      ? {}
      : {
          uid: running.uid,
          type: running.type,
          ...(running.expiryMs === undefined ? {} : { expiryTime: timestampOf(new Date(running.expiryMs)) }),
        }),
    ...sourceOf(seen, now),
    state: stateOf(seen, decision, now),
    ...why,
    ...(refused.length === 0 ? {} : { rejected: [...refused] }),
  };
}

/** Where the license comes from. That it is lost is written before anything follows from it, and survives a restart. */
function sourceOf(seen: Seen, now: Date): Pick<LicenseReport, "clusterLicense" | "lostSince"> {
  const clusterLicense = appliedFrom(seen, now);
  const lost = lostLicense(seen, now);
  return {
    ...(clusterLicense === undefined ? {} : { clusterLicense }),
    ...(lost === undefined ? {} : { lostSince: timestampOf(new Date(lost.sinceMs)) }),
  };
}

function stateOf(seen: Seen, decision: LaneDecision | undefined, now: Date): LicenseReport["state"] {
  const running = runningLicense(seen, now);
  if (decision?.rule === "rejected") return "Rejected";
  if (running?.isExpired === true) return "Expired";
  if (decision !== undefined && decision.outcome.kind !== "settled") return "Pending";
  return running === undefined ? "Unknown" : "Applied";
}
