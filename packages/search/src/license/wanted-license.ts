import type { ClusterLicense } from "@quartermaster/api/licensing";
import { licenseUpload, readSignature } from "@quartermaster/license-selection";
import { digestOf, type Live, type Why } from "@quartermaster/runtime";
import type { Secret } from "@quartermaster/runtime/kinds";

import type { WantedLicense } from "./license-seen.ts";

/** What a licence is read from. */
export interface LicenseSource {
  readonly license: Live<ClusterLicense>;
  /** The Secret that it names, in its own namespace. */
  readonly secret: Live<Secret> | undefined;
  /** Of the engine: what a refusal may come from besides the licence. */
  readonly engine: { readonly version: string; readonly hasTransportTls: boolean };
}

/** The licence as the engine takes it, or why there is none. */
export function wantedLicense({ license, secret, engine }: LicenseSource): WantedLicense | Why {
  const { spec, metadata } = license;
  const { name, namespace } = metadata;
  const signature = readSignature({ ref: spec.signatureRef, namespace, secret });
  if (signature.kind === "fault")
    return { reason: signature.fault, message: `ClusterLicense ${name}: ${signature.message}.` };
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
