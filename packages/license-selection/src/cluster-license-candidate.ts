import type { ClusterLicense } from "@quartermaster/api/licensing";

import type { LicenseCandidate } from "./license-candidate.ts";

/** A ClusterLicense as far as a choice needs it. */
export interface ChoosableLicense {
  readonly spec: ClusterLicense["spec"];
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

/** A ClusterLicense as a candidate. Its signature is for the search domain to read, once it is chosen. */
export function clusterLicenseCandidate(
  { spec, metadata: { namespace = "", name } }: ChoosableLicense,
  pinned: ReadonlySet<string> = new Set(),
): LicenseCandidate {
  const { uid, type, issueDate, startDate = issueDate, expiryDate } = spec;
  return {
    uid,
    source: `ClusterLicense ${namespace}/${name}`,
    type,
    startMs: startDate,
    expiryMs: expiryDate,
    ...(startDate < expiryDate ? {} : { fault: "Malformed" as const }),
    isPinned: pinned.has(name),
  };
}
