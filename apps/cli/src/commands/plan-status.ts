import type { InstallPlan } from "@quartermaster/api";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getPlan } from "../cluster/get-plan.ts";
import type { Command, CommandContext } from "../command.ts";
import { usageError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";
import { clusterOptions, type Invocation, onlyPositional } from "../input/invocation.ts";
import { cleanLines } from "../output/clean-text.ts";
import { print } from "../output/print.ts";
import { colored, plain } from "../render/paint.ts";
import { isReady, statusTree } from "../render/status-tree.ts";

const lookEveryMs = 1_000;

/** Shows a plan as a tree, once or until it is ready. */
export const planStatusCommand: Command = {
  name: "plan status",
  summary: "show the stages, objects and jobs of a plan and what it is waiting for",
  operands: "<plan>",
  options: {
    watch: { type: "boolean", short: "w", describe: "watch until the plan is ready" },
    timeout: { type: "string", describe: "stop watching after this many seconds (default: no timeout)" },
    ...clusterOptions,
  },
  run: async (invocation, context) => {
    const name = onlyPositional(invocation, "plan");
    const limitMs = timeoutMs(invocation);
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

/** Asks every second: one small read, for as long as a person looks. Returns the plan as it was last seen. */
async function watch(
  name: string,
  limitMs: number,
  { cluster, context, isText }: Environment,
): Promise<InstallPlan> {
  const { system, terminal, signal } = context;
  const end = system.monotonicMs() + limitMs;
  let shown = "";
  for (;;) {
    const plan = await getPlan(cluster, name, signal);
    const text = treeOf(plan, context);
    const leftMs = end - system.monotonicMs();
    const isLast = isReady(plan) || leftMs <= 0;
    // The last time all of it is drawn, which may be more than was there.
    const isDue = text !== shown || (isLast && terminal.isInteractive);
    if (isText && isDue) terminal.redraw(cleanLines(text, { colors: terminal.hasColor }), isLast);
    shown = text;
    if (isLast) return plan;
    await system.sleep(Math.min(lookEveryMs, leftMs), signal);
  }
}

function treeOf(plan: InstallPlan, { terminal }: CommandContext): string {
  return statusTree(plan, terminal.hasColor ? colored : plain);
}

function timeoutMs(invocation: Invocation): number {
  const seconds = invocation.text("timeout");
  if (seconds === undefined) return Infinity;
  if (!/^\d{1,6}$/.test(seconds)) throw usageError("--timeout must be a number of seconds");
  return Number(seconds) * 1_000;
}
