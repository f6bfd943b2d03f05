import type { Live } from "@quartermaster/runtime";
import { type ClusterObject, planEdit } from "@quartermaster/search/offline";

import { connect } from "../cluster/connect.ts";
import { listSearchClusters } from "../cluster/get-search-cluster.ts";
import type { Command, CommandContext } from "../command.ts";
import { CliError, type ExitCode, exitCode, usageError } from "../errors.ts";
import { type Invocation, searchOptions } from "../input/invocation.ts";
import { searchClusterOfFile } from "../input/read-input.ts";
import { print } from "../output/print.ts";
import { heldLines, searchPlanText } from "../render/search-plan-text.ts";
import { searchTitle } from "../render/search-status.ts";

/** Says what applying a file would do to a search cluster. */
export const searchPlanCommand: Command = {
  name: "search plan",
  summary: "show what an edit of a search cluster would do, without applying it",
  operands: "",
  options: {
    file: { type: "string", short: "f", describe: "file with the edited cluster; - for standard input" },
    from: {
      type: "string",
      describe: "file with the cluster as it is, instead of the one in the cluster; none: it does not exist",
    },
    ...searchOptions,
  },
  run: async (invocation, context) => {
    const file = invocation.text("file");
    if (file === undefined) throw usageError("required flag --file not set");
    const edited = await searchClusterOfFile(file, context);
    const before = await clusterBefore(edited, invocation, context);
    const next = before === undefined ? edited : sameObject(edited, before);
    const plan = planEdit(next, before);
    print(context.terminal, invocation.format, {
      data: { ...plan, held: heldLines(plan) },
      text: searchPlanText(searchTitle(next), plan),
    });
    return codeOf(plan.issues.length, heldLines(plan).length);
  },
};

function codeOf(issues: number, held: number): ExitCode {
  if (issues > 0) return exitCode.failed;
  return held > 0 ? exitCode.notReady : exitCode.ok;
}

async function clusterBefore(
  edited: Live<ClusterObject>,
  invocation: Invocation,
  context: CommandContext,
): Promise<Live<ClusterObject> | undefined> {
  const from = invocation.text("from");
  if (from === "none") return undefined;
  if (from !== undefined) return checked(await searchClusterOfFile(from, context), edited);
  await using cluster = await connect(invocation, context);
  const namespace = invocation.text("namespace") ?? edited.metadata.namespace;
  const all = await listSearchClusters({ ...cluster, namespace }, context.signal);
  return all.find(
    ({ apiVersion, kind, metadata }) =>
      metadata.name === edited.metadata.name && apiVersion === edited.apiVersion && kind === edited.kind,
  );
}

function checked(before: Live<ClusterObject>, edited: Live<ClusterObject>): Live<ClusterObject> {
  if (before.metadata.name === edited.metadata.name && before.kind === edited.kind) return before;
  throw new CliError(
    `the two files declare different clusters: ${searchTitle(before)}, ${searchTitle(edited)}`,
  );
}

/** A file does not say which object it edits, and leaves annotations of others alone, such as a restart that another client requested. */
function sameObject(edited: Live<ClusterObject>, { metadata }: Live<ClusterObject>): Live<ClusterObject> {
  const { uid, namespace } = metadata;
  const annotations = { ...metadata.annotations, ...edited.metadata.annotations };
  return { ...edited, metadata: { ...edited.metadata, uid, namespace, annotations } };
}
