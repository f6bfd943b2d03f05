export { licenseTypeRank, readDesiredLicense } from "./license-type.ts";
export type { DesiredLicense } from "./license-type.ts";
export { clusterLicenseCandidate, effectiveExpiryMs, rankCandidates } from "./license-candidate.ts";
export type {
  ChoosableLicense,
  LicenseCandidate,
  LicenseProblem,
  RankedCandidates,
} from "./license-candidate.ts";
export type { CurrentLicense, LicensedCluster, LicenseVerdict } from "./judge-candidate.ts";
export { dayMs, licenseParameters, sleepUntil } from "./license-parameters.ts";
export type { LicenseParameters } from "./license-parameters.ts";
export { selectLicense } from "./select-license.ts";
export type { LicenseChoice, LicenseSelection, SelectionReason, SelectionRequest } from "./select-license.ts";
export { licensedCluster } from "./licensed-cluster.ts";
export {
  longestSignature,
  readSignature,
  readSignatureEnvelope,
  signatureData,
  systemSecretTypes,
} from "./read-signature.ts";
export type {
  SignatureEnvelope,
  SignatureRead,
  SignatureRef,
  SignatureRequest,
  SignatureSecret,
} from "./read-signature.ts";
export {
  isEnterpriseSigned,
  isStackSigned,
  licenseUpload,
  maxNodesOf,
  stackCandidate,
} from "./stack-license.ts";
export type { NestedLicenseSpec, StackLicense, StackLicenseSpec } from "./stack-license.ts";
export { exportLicense } from "./export-license.ts";
export type { ExportableLicense } from "./export-license.ts";
export { importLicense } from "./import-license.ts";
export type { ImportedLicense, LicenseLocation, ReadableLicenseFile } from "./import-license.ts";
export { readLicenseFile } from "./license-file.ts";
export type { EnterpriseFileFields, LicenseFile, StackFileFields } from "./license-file.ts";
