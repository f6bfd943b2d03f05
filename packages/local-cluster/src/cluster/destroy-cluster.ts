import { rm } from "node:fs/promises";

import { clearNodes } from "../nodes/clear-nodes.ts";
import { endRecorded } from "../process/recorded-process.ts";
import type { System } from "../system/system.ts";
import { abandonedFolders } from "./cluster-folder.ts";

/**
 * Leaves nothing of a cluster behind: processes, pods, mounts, network namespaces, cgroups, folder. Works from the folder
 * alone and may be cut off and repeated at any point: the folder goes last, so what is left is still found.
 */
export async function destroyCluster(folder: string, system: System): Promise<void> {
  await endRecorded(folder, system);
  await clearNodes(folder, system);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Clears away every cluster below `parent` whose launcher is gone. Returns their folders. */
export async function reapAbandoned(parent: string, system: System): Promise<readonly string[]> {
  const folders = abandonedFolders(parent);
  for (const folder of folders) await destroyCluster(folder, system);
  return folders;
}
