export { prepareRealNodes, startLocalCluster } from "./cluster/start-local-cluster.ts";
export { podSocketOf, reachHostPort, reachPods } from "./cluster/reach-pods.ts";
export type { PodReach } from "./cluster/reach-pods.ts";
export { clusterDirectoryOf, runBeside } from "./cluster/run-beside.ts";
export type { Companion, RunningCompanion } from "./cluster/run-beside.ts";
export type { LocalClusterOptions, NodeRequest, ReadyApi } from "./cluster/options.ts";
export type {
  ApiServerHandle,
  ComponentUsage,
  KubectlResult,
  LocalCluster,
  StaleApiServer,
} from "./cluster/local-cluster.ts";
export { executeCommand } from "./command/execute-command.ts";
export { ApiClient } from "./api/api-client.ts";
export type { ApiAccess, ApiResponse, ApiRequest } from "./api/api-client.ts";
export type { AuditPolicy } from "./control-plane/api-server-arguments.ts";
export type { ComponentHandle, EtcdHandle } from "./control-plane/component.ts";
export { debianPrograms, provideProgram } from "./debian/provide-program.ts";
export type { ProgramRequest } from "./debian/provide-program.ts";
export { provideProgramImage } from "./debian/provide-program-image.ts";
export type { ProgramImage, ProgramImageRequest } from "./debian/provide-program-image.ts";
export { progressPrinter } from "./assets/progress.ts";
export { directoryEntries } from "./images/tar.ts";
export { writeImageLayout } from "./images/image-layout.ts";
export type { ImageLayout } from "./images/image-layout.ts";
export type { NodeHandle } from "./nodes/start-nodes.ts";
export type { PodTarget } from "./nodes/relay-endpoint.ts";
export type { PausableRelay } from "./relay/pausable-relay.ts";
export { LocalClusterError } from "./errors.ts";
export type { LocalClusterErrorCode } from "./errors.ts";
export { createCa } from "./pki/cluster-credentials.ts";
export type { ClusterCa, IssuedRequest } from "./pki/cluster-credentials.ts";
