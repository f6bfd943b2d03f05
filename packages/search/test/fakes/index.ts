export { FakeEngine } from "./fake-engine.ts";
export type { FakeEngineOptions, FakeState } from "./fake-engine.ts";
export type { FakeFault, FaultPlan } from "./fake-faults.ts";
export type { FakeFiles, FakePod } from "./fake-pod.ts";
export type { FakeIndex } from "./fake-shard-table.ts";
export { FakePrometheus } from "./fake-prometheus.ts";
export { largeCluster } from "./large-cluster.ts";
export type { LargeCluster, LargeClusterSize } from "./large-cluster.ts";
export { engineResponses, exporterPage } from "./engine-responses.ts";
