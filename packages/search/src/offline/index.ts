export { planEdit } from "./plan-edit.ts";
export type { EditPlan, PoolEdit, PoolScaling } from "./plan-edit.ts";
export { kindOf, readDeclaration, searchKinds } from "./read-declaration.ts";
export type { ReadDeclaration } from "./read-declaration.ts";
export { restartAnnotation } from "../model/read-cluster.ts";
export type { ClusterObject } from "../model/read-cluster.ts";
export type { SpecIssue } from "../model/search-cluster.ts";
export { limitsText } from "../autoscaling/limit-text.ts";
export { searchReasons } from "../reasons.ts";
