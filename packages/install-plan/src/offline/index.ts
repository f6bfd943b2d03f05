export { identityOf } from "../model/identity.ts";
export type { Identity } from "../model/identity.ts";
export type { Issue } from "../model/issue.ts";
export { fieldManager, objectAnnotation, planIdLabel } from "../ownership/owner-labels.ts";
export { appliedForm } from "../manifest/applied-form.ts";
export type { AppliedForm } from "../manifest/applied-form.ts";
export { appliedManifest } from "../ownership/applied-manifest.ts";
export type { Writable } from "../ownership/applied-manifest.ts";
export { canonicalJson } from "@quartermaster/runtime";
export { flattenList } from "../manifest/plan-items.ts";
export type { Flattened } from "../manifest/plan-items.ts";
export { objectProblems } from "../manifest/object-problems.ts";
export type { ObjectProblem } from "../manifest/object-problems.ts";
export { isDnsLabel, isDnsSubdomain } from "../manifest/object-problems.ts";
export { refusalText } from "../model/write-failure.ts";
export { describePermission } from "../permissions/permission.ts";
export { type GrantedMember, leastPermissions, leastRoles } from "../permissions/least-roles.ts";
export { permissionsBeyond } from "../permissions/permissions-beyond.ts";
export { impersonationOf, reviewRules } from "../permissions/rules-review.ts";
export { laidOver } from "../manifest/read-member.ts";
export { readContent } from "../manifest/read-content.ts";
export { resolveManifest } from "../manifest/resolve-manifest.ts";
export type { ManifestSecret, Resolved } from "../manifest/resolve-manifest.ts";
export { readYaml } from "../manifest/read-yaml.ts";
export type { YamlDocument, YamlIssue, YamlReading } from "../manifest/read-yaml.ts";
export { pack } from "./pack.ts";
export type {
  PackDocument,
  Packed,
  PackedManifest,
  PackedPlan,
  PackedResource,
  PackedStage,
  PackOptions,
  WantedStage,
} from "./pack.ts";
