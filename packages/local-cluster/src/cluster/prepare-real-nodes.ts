import type { ProgressReport } from "../assets/progress.ts";
import { resolveBinaries } from "../assets/resolve.ts";
import type { System } from "../system/system.ts";
import { realSystem } from "../system/system.ts";
import { planCluster } from "./options.ts";
import { settleProfile } from "./settle-profile.ts";
import { controlPlaneComponents, nodeComponents } from "./start-local-cluster.ts";

/**
 * Installs what real nodes need and builds their binaries, where that is possible, so that the first cluster with nodes starts in
 * seconds. Returns the sentence that says what is still missing, if anything.
 */
export async function prepareRealNodes(
  report: ProgressReport = () => undefined,
  system: System = realSystem,
): Promise<string | undefined> {
  const wanted = planCluster({ nodes: 1, installPrerequisites: true, report }, system);
  const { plan, notes } = await settleProfile(wanted, system);
  if (notes[0] !== undefined) return notes[0];
  const components = [...controlPlaneComponents(plan), ...nodeComponents(plan)];
  await resolveBinaries({ components, report, system });
  return undefined;
}
