import { existsSync } from "node:fs";
import { join } from "node:path";

import { measureUsage } from "../cluster/assemble-cluster.ts";
import { clustersFolder } from "../cluster/cluster-folder.ts";
import type { System } from "../system/system.ts";
import type { Terminal } from "./execute-command.ts";

/** Lists the processes of the cluster with their resident memory. Exit code 1 when there is none. */
export function showStatus(name: string, { out }: Terminal, system: System): number {
  const folder = join(clustersFolder(system), name);
  if (!existsSync(folder)) {
    out.write(`there is no cluster ${name}; \`make up\` starts one\n`);
    return 1;
  }
  out.write(`${"PROCESS".padEnd(32)}${"PID".padStart(8)}${"RESIDENT".padStart(12)}\n`);
  for (const { name: process, pid, residentBytes } of measureUsage(folder)) {
    out.write(
      `${process.padEnd(32)}${String(pid).padStart(8)}${`${Math.round(residentBytes / 1e6)} MB`.padStart(12)}\n`,
    );
  }
  return 0;
}
