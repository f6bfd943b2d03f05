import type { ProgressReport } from "../assets/progress.ts";
import type { System } from "../system/system.ts";
import { realSystem } from "../system/system.ts";
import { planCluster } from "./options.ts";
import { settleProfile } from "./settle-profile.ts";

/** Installs what real nodes need, where that is possible. Returns the sentence that says what is still missing, if anything. */
export async function prepareRealNodes(
  report: ProgressReport = () => undefined,
  system: System = realSystem,
): Promise<string | undefined> {
  const { notes } = await settleProfile(
    planCluster({ nodes: 1, installPrerequisites: true, report }, system),
    system,
  );
  return notes[0];
}
