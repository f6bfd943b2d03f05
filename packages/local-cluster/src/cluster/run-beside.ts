import { join } from "node:path";

import { LocalClusterError } from "../errors.ts";
import { launch } from "../process/launch.ts";
import { isAlive, readRecords } from "../process/process-identity.ts";
import { realSystem, type System } from "../system/system.ts";
import { clustersDirectory, readOwner } from "./claim-directory.ts";

/** A process of the user's that is to live as long as the cluster does. */
export interface Companion {
  /** Names its record and its log; no component of the cluster has it. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Besides PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A companion that runs. */
export interface RunningCompanion {
  readonly logPath: string;
  /** It was there already and was left alone. */
  readonly wasRunning: boolean;
  isRunning(): boolean;
}

/** Where the cluster of this name has its files: `kubeconfig`, `bin/kubectl`, `logs`. */
export function clusterDirectoryOf(name: string, system: System = realSystem): string {
  return join(clustersDirectory(system), name);
}

/**
 * Starts a process beside the cluster, recorded like the cluster's own: it outlives us where the cluster does, shows in
 * `status` and ends with `down`. One of the same name that lives is left alone.
 *
 * @example
 * runBeside(clusterFolderOf("quartermaster"), { name: "operator", command: process.execPath, args: ["operator.ts"] });
 */
export function runBeside(
  directory: string,
  { name, command, args = [], env = {} }: Companion,
  system: System = realSystem,
): RunningCompanion {
  if (readOwner(directory) === undefined)
    throw new LocalClusterError("BadUsage", `There is no cluster in ${directory}.`, "Start one first.");
  const known = readRecords(directory).find((record) => record.name === name && isAlive(record.identity));
  if (known !== undefined) {
    const logPath = join(directory, "logs", `${name}.log`);
    return { logPath, wasRunning: true, isRunning: () => isAlive(known.identity) };
  }
  const process = launch({ name, command, args, directory, env }, system);
  return { logPath: process.logPath, wasRunning: false, isRunning: () => process.isRunning() };
}
