import type { Live } from "@quartermaster/runtime";
import type { ClusterObject } from "@quartermaster/search/offline";

import { connect } from "../cluster/connect.ts";
import { getSearchCluster } from "../cluster/get-search-cluster.ts";
import type { Command, CommandContext } from "../command.ts";
import { exitCode, usageError } from "../errors.ts";
import { type Invocation, onlyPositional, searchOptions } from "../input/invocation.ts";
import { searchClusterOfFile } from "../input/read-input.ts";
import { print } from "../output/print.ts";
import { explainSearch, searchExplanationText } from "../render/explain-search.ts";
import { isSearchReady } from "../render/search-status.ts";

/** Says what a search cluster waits for; with a file it needs no cluster. */
export const searchExplainCommand: Command = {
  name: "search explain",
  summary: "explain what a search cluster waits for and who acts next",
  operands: "<cluster>",
  options: {
    file: {
      type: "string",
      short: "f",
      describe: "read the object with its status from a file, or - for standard input",
    },
    ...searchOptions,
  },
  run: async (invocation, context) => {
    const object = await objectToExplain(invocation, context);
    const explanation = explainSearch(object);
    print(context.terminal, invocation.format, {
      data: explanation,
      text: searchExplanationText(explanation),
    });
    return isSearchReady(object) ? exitCode.ok : exitCode.notReady;
  },
};

async function objectToExplain(
  invocation: Invocation,
  context: CommandContext,
): Promise<Live<ClusterObject>> {
  const file = invocation.text("file");
  if (file !== undefined && invocation.positionals.length > 0)
    throw usageError("specify a cluster or --file, not both");
  if (file !== undefined) return await searchClusterOfFile(file, context);
  const name = onlyPositional(invocation, "cluster");
  await using cluster = await connect(invocation, context);
  return await getSearchCluster(cluster, name, context.signal);
}
