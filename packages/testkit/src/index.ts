export { AuditLog, parseAuditLines, WRITING_VERBS } from "./audit/audit-log.ts";
export type { AuditEntry, AuditFilter, AuditMark } from "./audit/audit-log.ts";
export { aConfigMap, aDeployment, aJob, aSecret } from "./builders/workloads.ts";
export type {
  BuiltConfigMap,
  BuiltObject,
  BuiltSecret,
  BuiltWorkload,
  Named,
  PodRequest,
} from "./builders/workloads.ts";
export { hatchCanary } from "./canary.ts";
export type { Canary } from "./canary.ts";
export { eventually } from "./eventually.ts";
export type { EventuallyOptions } from "./eventually.ts";
export { makeIdentity } from "./identity.ts";
export type { Identity, IdentityRequest, PolicyRule } from "./identity.ts";
export { startLocalCluster } from "@quartermaster/local-cluster";
export type { LocalCluster, LocalClusterOptions } from "@quartermaster/local-cluster";
export { joinSharedCluster } from "./shared-cluster/shared-cluster.ts";
export type { SharedCluster, SharedClusterFacts } from "./shared-cluster/shared-cluster.ts";
export { makeNamespace } from "./shared-cluster/test-namespace.ts";
export type { TestNamespace } from "./shared-cluster/test-namespace.ts";
