export { clusterLicense } from "./cluster-license.ts";
export type { ClusterLicense } from "./cluster-license.ts";
export { enterpriseLicense } from "./enterprise-license.ts";
export type { EnterpriseLicense } from "./enterprise-license.ts";
export { licenseAssociation } from "./license-association.ts";
export type { LicenseAssociation } from "./license-association.ts";
export {
  ALLOW_DOWNGRADE_ANNOTATION,
  DESIRED_LICENSE_LABEL,
  LICENSE_REMAINDER_KEY,
  LICENSED_CLUSTER_LABEL,
  licenseNames,
  LICENSING_GROUP,
  MAX_NODES_KEY,
  ON_LICENSE_LOSS_ANNOTATION,
  OUTER_SIGNATURE_KEY,
  SIGNATURE_SECRET_TYPE,
} from "./license-names.ts";
export type { LicenseNames } from "./license-names.ts";
export { licenseTypeRank, licenseTypes, readDesiredLicense } from "./license-type.ts";
export type { DesiredLicense, LicenseType } from "./license-type.ts";
export { effectiveExpiryMs, rankCandidates } from "./license-candidate.ts";
export type { LicenseCandidate, LicenseFault, RankedCandidates } from "./license-candidate.ts";
export { clusterLicenseCandidate } from "./cluster-license-candidate.ts";
export type { ChoosableLicense } from "./cluster-license-candidate.ts";
export type { CurrentLicense, LicensedCluster, LicenseVerdict } from "./judge-candidate.ts";
export { dayMs, licenseParameters, sleepUntil } from "./license-parameters.ts";
export type { LicenseParameters } from "./license-parameters.ts";
export { selectLicense } from "./select-license.ts";
export type { LicenseChoice, LicenseSelection, SelectionReason, SelectionRequest } from "./select-license.ts";
export { licensedCluster } from "./licensed-cluster.ts";
export { readSignature } from "./read-signature.ts";
export type { SignatureRead, SignatureRef, SignatureRequest, SignatureSecret } from "./read-signature.ts";
export { readSignatureEnvelope } from "./signature-envelope.ts";
export type { SignatureEnvelope } from "./signature-envelope.ts";
export { licenseUpload, maxNodesOf, stackCandidate } from "./stack-license.ts";
export type { NestedLicenseSpec, StackLicense, StackLicenseSpec } from "./stack-license.ts";
export { isEnterpriseSigned, isStackSigned } from "./is-stack-signed.ts";
export { exportLicense } from "./export-license.ts";
export type { ExportableLicense } from "./export-license.ts";
export { importLicense } from "./import-license.ts";
export type { ImportedLicense, LicensePlace, ReadableLicenseFile } from "./import-license.ts";
export { readLicenseFile } from "./license-file.ts";
export type { EnterpriseFileFields, LicenseFile, StackFileFields } from "./license-file.ts";
