export { AuditLog, parseAuditLines, WRITING_VERBS } from "./audit/audit-log.ts";
export type { AuditEntry, AuditFilter, AuditPosition } from "./audit/audit-log.ts";
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
export { crashGraceMs } from "./crash-grace.ts";
export { connect, serveKinds } from "./connect.ts";
export type { Access, Connection } from "./connect.ts";
export { cpuMs } from "./cpu-ms.ts";
export { startDocumentLoad } from "./document-load.ts";
export type { RequestEngine, DocumentLoad, DocumentLoadOptions, DocumentTally } from "./document-load.ts";
export { eventDrivenSystem } from "./event-driven-system.ts";
export { eventually } from "./eventually.ts";
export type { EventuallyOptions } from "./eventually.ts";
export { makeIdentity } from "./identity.ts";
export type { Identity, IdentityRequest, PolicyRule } from "./identity.ts";
export { operatorProgram, startOperator } from "./operator-process.ts";
export type { OperatorProcess, OperatorProcessOptions } from "./operator-process.ts";
export {
  ApiClient,
  debianPrograms,
  provideProgram,
  provideProgramImage,
  reachPods,
  startLocalCluster,
} from "@quartermaster/local-cluster";
export type { LocalCluster, LocalClusterOptions, PodReach } from "@quartermaster/local-cluster";
export { provideEngineHome, provideEngineImage } from "@quartermaster/local-cluster/engines";
export type { EngineImage, EngineVersion } from "@quartermaster/local-cluster/engines";
export { apiError, RecordedApi } from "./recorded-api.ts";
export type { BeforeWrite, RecordedWrite, SentOptions } from "./recorded-api.ts";
export { prometheusProgram } from "./prometheus/prometheus-program.ts";
export type { PrometheusProgram } from "./prometheus/prometheus-program.ts";
export { startPrometheus } from "./prometheus/scraping-prometheus.ts";
export type { ScrapingPrometheus } from "./prometheus/scraping-prometheus.ts";
export { hasRealNodes } from "./real-nodes/real-nodes.ts";
export { joinSharedCluster } from "./shared-cluster/shared-cluster.ts";
export type { SharedCluster, SharedClusterFacts } from "./shared-cluster/shared-cluster.ts";
export { faultsOfStatus } from "./faults-of-status.ts";
export type { StatusFaults } from "./faults-of-status.ts";
export { makeNamespace } from "./shared-cluster/test-namespace.ts";
export type { TestNamespace } from "./shared-cluster/test-namespace.ts";
export { isWritePoint } from "./fault-proxy/seen-request.ts";
export type { RequestMatch, SeenRequest } from "./fault-proxy/seen-request.ts";
export { conflict, expired, htmlPage, refused, serverError, tooManyRequests } from "./fault-proxy/fault.ts";
export type { Fault, InterleavedRequest, SyntheticResponse } from "./fault-proxy/fault.ts";
export type { InjectedFault } from "./fault-proxy/fault-plan.ts";
export { interruptEachWrite, writesUponOthers } from "./interrupt-each-write.ts";
export type { Fate, Interruption, RecordedWork } from "./interrupt-each-write.ts";
export { RecordedReconcile } from "./recorded-reconcile.ts";
export { textOfWrite } from "./reconcile-write.ts";
export type { ReconcileWrite, WriteHooks } from "./reconcile-write.ts";
export { startFaultProxy } from "./fault-proxy/fault-proxy.ts";
export type { FaultProxy, FaultProxyOptions, TraceEntry } from "./fault-proxy/fault-proxy.ts";
export {
  closeAfter,
  closeAfterInitial,
  delayEvents,
  expireAfter,
  goSilentAfter,
  hideWindow,
  holdUntil,
  joinFrames,
  repeatEvents,
  splitEvery,
} from "./fault-proxy/watch-transform.ts";
export type { WatchTransform } from "./fault-proxy/watch-transform.ts";
export { earlyWrite, writeByOther } from "./fault-walk/trace.ts";
export type { Trace } from "./fault-walk/trace.ts";
export type { FaultPlan } from "./fault-walk/lives.ts";
export type { PlanResult } from "./fault-walk/run-plan.ts";
export { failuresOf, walkFaults } from "./fault-walk/walk.ts";
export { needlessOf, walkPreconditions } from "./fault-walk/walk-preconditions.ts";
export type { PreconditionResult } from "./fault-walk/walk-preconditions.ts";
export type { WalkReport } from "./fault-walk/walk.ts";
export type { Workload, WorkloadRun, WorkloadStep } from "./fault-walk/workload.ts";
