// The one place that knows where tests get their cluster from.
import { startLocalCluster, type LocalCluster } from "@quartermaster/testkit";

export type { LocalCluster };

/** A control plane for one test file. */
export async function startTestCluster(): Promise<LocalCluster> {
  return await startLocalCluster({ kwokNodes: 0 });
}
