export { defineCustomResource } from "./custom-resource.ts";
export type {
  CustomResource,
  CustomResourceDefinitionRequest,
  ExampleOf,
  ManifestIssue,
  ObjectOf,
} from "./custom-resource.ts";
export { referencePage } from "./reference-page.ts";
export type { FieldColumn } from "./reference-page.ts";
export type { ConversionClient, ResourceConversion } from "./resource-definition.ts";
export type { PrinterColumn, KindVersion } from "./kind-version.ts";
export { toStructuralSchema } from "./structural-schema.ts";
export type { StructuralSchema } from "./structural-schema.ts";
export {
  atomicList,
  cel,
  duration,
  embedded,
  immutable,
  int32,
  int64,
  intOrString,
  listMap,
  listSet,
  map,
  quantity,
  raw,
  timestamp,
} from "./vocabulary.ts";
export type { CelRule } from "./vocabulary.ts";
