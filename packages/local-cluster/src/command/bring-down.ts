import { existsSync } from "node:fs";
import { join } from "node:path";

import { clustersFolder } from "../cluster/cluster-folder.ts";
import { destroyCluster, reapAbandoned } from "../cluster/destroy-cluster.ts";
import type { System } from "../system/system.ts";
import type { Terminal } from "./execute-command.ts";

/** Ends the cluster of that name, and clears away what killed launchers left of others. */
export async function bringDown(name: string, { out }: Terminal, system: System): Promise<number> {
  const parent = clustersFolder(system);
  const folder = join(parent, name);
  const wasThere = existsSync(folder);
  if (wasThere) await destroyCluster(folder, system);
  await reapAbandoned(parent, system);
  out.write(wasThere ? `cluster ${name} is down, nothing of it is left\n` : `there is no cluster ${name}\n`);
  return 0;
}
