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
export { licenseTypes, licenseUid } from "./license-fields.ts";
export type { LicenseType } from "./license-fields.ts";
