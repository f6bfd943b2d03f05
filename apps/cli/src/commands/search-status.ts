import type { Live } from "@quartermaster/runtime";
import type { ClusterObject } from "@quartermaster/search/offline";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getSearchCluster, listSearchClusters } from "../cluster/get-search-cluster.ts";
import type { Command, CommandContext } from "../command.ts";
import { exitCode, usageError } from "../errors.ts";
import { type Invocation, onlyPositional, searchOptions } from "../input/invocation.ts";
import { cleanLines } from "../output/clean-text.ts";
import { print } from "../output/print.ts";
import { colored, type Paint, plain } from "../render/paint.ts";
import { isSearchReady, searchLine, searchStatusText, searchTitle } from "../render/search-status.ts";

const observeEveryMs = 1_000;

/** Shows search clusters: all of a namespace by a line each, or one with its nodes. */
export const searchStatusCommand: Command = {
  name: "search status",
  summary: "show the search clusters of a namespace, or the pools and nodes of one",
  operands: "[cluster]",
  options: {
    watch: { type: "boolean", short: "w", describe: "watch until the cluster is ready" },
    health: { type: "string", describe: "with --watch: watch until the health is this as well, e.g. green" },
    timeout: { type: "string", describe: "stop watching after this many seconds (default: no timeout)" },
    ...searchOptions,
  },
  run: async (invocation, context) => {
    const limitMs = timeoutMs(invocation);
    await using cluster = await connect(invocation, context);
    return invocation.positionals.length === 0
      ? await showAll(invocation, { cluster, context })
      : await showOne(invocation, { cluster, context, limitMs });
  },
};

interface Environment {
  readonly cluster: Cluster;
  readonly context: CommandContext;
}

async function showAll(invocation: Invocation, { cluster, context }: Environment): Promise<0 | 3> {
  if (invocation.flag("watch")) throw usageError("--watch needs the name of a cluster");
  const all = await listSearchClusters(cluster, context.signal);
  const text =
    all.length === 0
      ? `no search clusters found in namespace ${cluster.namespace}`
      : all.map((object) => searchLine(object, paintOf(context))).join("\n");
  const data = all.map((object) => ({ title: searchTitle(object), ...dataOf(object) }));
  print(context.terminal, invocation.format, { data, text });
  return all.every(isSearchReady) ? exitCode.ok : exitCode.notReady;
}

async function showOne(
  invocation: Invocation,
  { cluster, context, limitMs }: Environment & { readonly limitMs: number },
): Promise<0 | 3> {
  const name = onlyPositional(invocation, "cluster");
  const health = invocation.text("health");
  const isDone = (object: Live<ClusterObject>): boolean =>
    isSearchReady(object) && (health === undefined || object.status?.health === health);
  const isText = invocation.format === "text";
  const isWatched = invocation.flag("watch");
  const object = isWatched
    ? await watch(name, { cluster, context, limitMs, isText, isDone })
    : await getSearchCluster(cluster, name, context.signal);
  if (!isWatched || !isText)
    print(context.terminal, invocation.format, {
      data: dataOf(object),
      text: searchStatusText(object, paintOf(context)),
    });
  return isDone(object) ? exitCode.ok : exitCode.notReady;
}

interface Watching extends Environment {
  readonly limitMs: number;
  /** Programs get the last state alone. */
  readonly isText: boolean;
  readonly isDone: (object: Live<ClusterObject>) => boolean;
}

/** Asks every second, for as long as a user looks. Returns the cluster as it was last seen. */
async function watch(
  name: string,
  { cluster, context, limitMs, isText, isDone }: Watching,
): Promise<Live<ClusterObject>> {
  const { system, terminal, signal } = context;
  const end = system.monotonicMs() + limitMs;
  let shown = "";
  for (;;) {
    const object = await getSearchCluster(cluster, name, signal);
    const leftMs = end - system.monotonicMs();
    const isLast = isDone(object) || leftMs <= 0;
    const text = progressText(object, context, isLast);
    if (isText && text !== shown) terminal.redraw(cleanLines(text, { colors: terminal.hasColor }), isLast);
    shown = text;
    if (isLast) return object;
    await system.sleep(Math.min(observeEveryMs, leftMs), signal);
  }
}

/** A log gets a line per change, and the whole at the end. */
function progressText(object: Live<ClusterObject>, context: CommandContext, isLast: boolean): string {
  const paint = paintOf(context);
  return context.terminal.isInteractive || isLast
    ? searchStatusText(object, paint)
    : searchLine(object, paint);
}

function dataOf({ status, metadata, kind }: Live<ClusterObject>): object {
  return { kind, name: metadata.name, namespace: metadata.namespace, ...status };
}

function paintOf({ terminal }: CommandContext): Paint {
  return terminal.hasColor ? colored : plain;
}

function timeoutMs(invocation: Invocation): number {
  const seconds = invocation.text("timeout");
  if (seconds === undefined) return Infinity;
  if (!/^\d{1,6}$/.test(seconds)) throw usageError("--timeout must be a number of seconds");
  return Number(seconds) * 1_000;
}
