import type { InstallPlan } from "@quartermaster/api";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getPlan, watchPlan } from "../cluster/get-plan.ts";
import type { Command, CommandContext } from "../command.ts";
import { exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional, timeoutMs } from "../input/invocation.ts";
import { cleanLines } from "../output/clean-text.ts";
import { print } from "../output/print.ts";
import { colored, plain } from "../render/paint.ts";
import { isReady, statusTree, watchEnd } from "../render/status-tree.ts";

/** Shows a plan as a tree, once or until it is ready or stuck. */
export const planStatusCommand: Command = {
  name: "plan status",
  summary: "show the stages, objects and jobs of a plan and what it is waiting for",
  operands: "<plan>",
  options: {
    watch: {
      type: "boolean",
      short: "w",
      describe: "watch until the plan is ready, or stuck: Invalid, Forbidden, Failed or Superseded",
    },
    timeout: { type: "string", describe: "stop watching after this many seconds (default: no timeout)" },
    ...clusterOptions,
  },
  run: async (invocation, context) => {
    const name = onlyPositional(invocation, "plan");
    const limitMs = timeoutMs(invocation, Infinity);
    await using cluster = await connect(invocation, context);
    const isText = invocation.format === "text";
    const plan = invocation.flag("watch")
      ? await watch(name, limitMs, { cluster, context, isText })
      : await getPlan(cluster, name, context.signal);
    const isShown = invocation.flag("watch") && isText;
    if (!isShown)
      print(context.terminal, invocation.format, { data: plan.status ?? {}, text: treeOf(plan, context) });
    return isReady(plan) ? exitCode.ok : exitCode.notReady;
  },
};

interface Environment {
  readonly cluster: Cluster;
  readonly context: CommandContext;
  /** Programs get the last state alone: several documents would be none that they can read. */
  readonly isText: boolean;
}

/** Draws the tree again whenever it changes. Ends when the plan is ready, or will not be before another client acts. */
async function watch(
  name: string,
  limitMs: number,
  { cluster, context, isText }: Environment,
): Promise<InstallPlan> {
  const { terminal } = context;
  let shown = "";
  const show = (plan: InstallPlan, isLast: boolean): void => {
    const text = treeOf(plan, context);
    // The last time all of it is drawn, which may be more than was there.
    const isDue = text !== shown || (isLast && terminal.isInteractive);
    if (isText && isDue) terminal.redraw(cleanLines(text, { colors: terminal.hasColor }), isLast);
    shown = text;
  };
  const isFinished = watchEnd((progress) => progress === "ready");
  return await watchPlan(name, { cluster, context, limitMs, isFinished, show });
}

function treeOf(plan: InstallPlan, { terminal }: CommandContext): string {
  return statusTree(plan, terminal.hasColor ? colored : plain);
}
