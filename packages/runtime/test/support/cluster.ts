// The one place that knows where tests get their cluster from.
export { startLocalCluster, type LocalCluster } from "@quartermaster/local-cluster";
