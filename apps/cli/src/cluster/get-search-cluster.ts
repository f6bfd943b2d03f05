import type { Live } from "@quartermaster/runtime";
import { type ClusterObject, searchKinds } from "@quartermaster/search/offline";

import { CliError, exitCode } from "../errors.ts";
import type { Cluster } from "./connect.ts";

/** The search cluster of this name, of whichever kind; ends the program with `not found` when there is none. */
export async function getSearchCluster(
  { client, namespace }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<Live<ClusterObject>> {
  for (const { kind } of searchKinds) {
    const found = await client.find(kind, { name, namespace }, { signal });
    if (found !== undefined) return found;
  }
  throw new CliError(
    `no search cluster ${name} in namespace ${namespace}; list them with qm search status -n ${namespace}`,
    exitCode.notFound,
  );
}

/** All search clusters of the namespace. */
export async function listSearchClusters(
  { client, namespace }: Cluster,
  signal: AbortSignal,
): Promise<readonly Live<ClusterObject>[]> {
  const lists = await Promise.all(
    searchKinds.map(async ({ kind }) => await Array.fromAsync(client.list(kind, { namespace, signal }))),
  );
  return lists.flat();
}
