export { identityOf } from "../identity.ts";
export type { Identity } from "../identity.ts";
export type { Issue } from "../issue.ts";
export { fieldManager, objectAnnotation, planIdLabel } from "../owner-labels.ts";
export { appliedForm } from "../manifest/applied-form.ts";
export type { AppliedForm } from "../manifest/applied-form.ts";
export { appliedManifest } from "../world/applied-manifest.ts";
export type { Writable } from "../world/applied-manifest.ts";
export { canonicalJson } from "../manifest/canonical-json.ts";
export { flattenList } from "../manifest/flatten-list.ts";
export type { Flattened } from "../manifest/flatten-list.ts";
export { objectFaults } from "../manifest/object-faults.ts";
export type { ObjectFault } from "../manifest/object-faults.ts";
export { isDnsLabel, isDnsSubdomain } from "../manifest/names.ts";
export { impersonationOf } from "../permissions/reviews.ts";
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
} from "./packed.ts";
