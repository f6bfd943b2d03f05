// The one place that knows where tests get their cluster from.
import { startLocalCluster, type LocalCluster } from "@quartermaster/local-cluster";

export type { LocalCluster };

/** A control plane for one test file. */
export async function startTestCluster(): Promise<LocalCluster> {
  return await startLocalCluster({ kwokNodes: 0 });
}
