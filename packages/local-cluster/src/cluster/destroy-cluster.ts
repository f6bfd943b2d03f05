import { existsSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";

import { clusterCgroup, emptyCgroup, mountsBelow, readMountTable, removeCgroup } from "../nodes/cgroups.ts";
import { runTool, tryTool } from "../nodes/run-tool.ts";
import { endRecorded } from "../process/process-identity.ts";
import type { System } from "../system/system.ts";
import { abandonedDirectories } from "./claim-directory.ts";

/**
 * Leaves nothing of a cluster behind: processes, pods, mounts, network namespaces, cgroups, directory. Works from the directory
 * alone and may be cut off and repeated at any point: the directory goes last, so what is left is still found.
 */
export async function destroyCluster(directory: string, system: System): Promise<void> {
  await endRecorded(directory, system);
  await clearNodes(directory, system);
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

/** Clears away every cluster below `parent` whose launcher no longer exists. Returns their directories. */
export async function reapAbandoned(parent: string, system: System): Promise<readonly string[]> {
  const directories = abandonedDirectories(parent);
  for (const directory of directories) await destroyCluster(directory, system);
  return directories;
}

/**
 * Leaves nothing of a cluster's nodes behind but files: processes, containers, mounts, network namespaces, cgroups. Works
 * from the directory alone, may be cut off and repeated, and does nothing where there are no nodes.
 *
 * Containers and their shims outlive the runtime that started them; they are found by the cgroup they are in. With the last
 * of them the nodes' mount namespaces end, and all mounts in there. The namespaces' own files are mounts of ours; with those
 * the network namespaces end, and their links.
 */
async function clearNodes(directory: string, system: System): Promise<void> {
  if (!existsSync(directory)) return;
  const cgroup = clusterCgroup(directory);
  await emptyCgroup(cgroup, system);
  await unmountBelow(realpathSync(directory), system);
  removeCgroup(cgroup);
}

/** Unmounts everything below `directory`. A mount that is still busy after a while is detached: it goes with its last user. */
async function unmountBelow(directory: string, system: System): Promise<void> {
  for (let attempt = 0; attempt < PATIENT_ATTEMPTS; attempt += 1) {
    const mounts = mountsBelow(directory, readMountTable());
    if (mounts.length === 0) return;
    await tryTool({ command: "umount", args: ["--no-mtab", "--", ...mounts] }, system);
    if (attempt > 0) await system.sleep(50);
  }
  const busy = mountsBelow(directory, readMountTable());
  if (busy.length > 0)
    await runTool({ command: "umount", args: ["--no-mtab", "--lazy", "--", ...busy] }, system);
}

const PATIENT_ATTEMPTS = 20;
