import { kindOf, restartAnnotation } from "@quartermaster/search/offline";

import { connect } from "../cluster/connect.ts";
import { getSearchCluster } from "../cluster/get-search-cluster.ts";
import type { Command } from "../command.ts";
import { exitCode, usageError } from "../errors.ts";
import { onlyPositional, searchOptions } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { searchTitle } from "../render/search-status.ts";

/** Asks the operator to restart the nodes of a search cluster, one at a time and after its checks. */
export const searchRestartCommand: Command = {
  name: "search restart",
  summary: "restart the nodes of a search cluster, one at a time; the operator checks before each",
  operands: "<cluster>",
  options: {
    pool: { type: "string", describe: "only the nodes of this pool" },
    ...searchOptions,
  },
  run: async (invocation, context) => {
    const { system, terminal, signal } = context;
    await using cluster = await connect(invocation, context);
    const found = await getSearchCluster(cluster, onlyPositional(invocation, "cluster"), signal);
    const pool = invocation.text("pool");
    const pools = found.spec.nodePools.map(({ component }) => component);
    if (pool !== undefined && !pools.includes(pool))
      throw usageError(`${searchTitle(found)} has no pool ${pool}; it has ${pools.join(", ")}`);
    // Each new value acts once; a time says at the same time when another client asked.
    const value = new Date(system.wallMs()).toISOString();
    const body = { metadata: { annotations: { [restartAnnotation(pool)]: value } } };
    await cluster.client.patch(kindOf(found), found.metadata, {
      patch: { kind: "merge", body },
      fieldManager: "qm",
      signal,
    });
    const nodes = pool === undefined ? "all nodes" : `the nodes of pool ${pool}`;
    print(terminal, invocation.format, {
      data: { name: found.metadata.name, pool, value },
      text: `${searchTitle(found)}: ${nodes} restart, one at a time. Watch: qm search status ${found.metadata.name} -n ${found.metadata.namespace}`,
    });
    return exitCode.ok;
  },
};
