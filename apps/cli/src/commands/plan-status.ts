import type { InstallPlan } from "@quartermaster/api";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getPlan } from "../cluster/get-plan.ts";
import type { Command, CommandContext } from "../command.ts";
import { usageError } from "../errors.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { clusterOptions, type Invocation, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { colored, plain } from "../render/paint.ts";
import { isReady, statusTree } from "../render/status-tree.ts";

const lookEveryMs = 1_000;

/** Shows a plan as a tree, once or until it is ready. */
export const planStatusCommand: Command = {
  name: "plan status",
  summary: "show stages, objects and jobs of a plan, and what is waited for",
  operands: "<plan>",
  options: {
    watch: { type: "boolean", short: "w", describe: "go on until the plan is ready" },
    timeout: { type: "string", describe: "give up watching after this many seconds; never unless told" },
    ...clusterOptions,
  },
  run: async (invocation, context) => {
    const name = onlyPositional(invocation, "plan");
    const limitMs = timeoutMs(invocation);
    await using cluster = await connect(invocation, context.system);
    if (invocation.flag("watch")) return await watch(name, limitMs, { cluster, context });
    const plan = await getPlan(cluster, name, context.signal);
    print(context.terminal, invocation.format, { data: plan.status ?? {}, text: treeOf(plan, context) });
    return isReady(plan) ? exitCode.ok : exitCode.notReady;
  },
};

interface Surroundings {
  readonly cluster: Cluster;
  readonly context: CommandContext;
}

/** Asks every second: one small read, for as long as a person looks. */
async function watch(name: string, limitMs: number, { cluster, context }: Surroundings): Promise<ExitCode> {
  const { system, terminal, signal } = context;
  const end = system.monotonicMs() + limitMs;
  let shown = "";
  while (!signal.aborted && system.monotonicMs() <= end) {
    const plan = await getPlan(cluster, name, signal);
    const text = treeOf(plan, context);
    if (text !== shown) terminal.redraw(text);
    shown = text;
    if (isReady(plan)) return exitCode.ok;
    await system.sleep(lookEveryMs, signal);
  }
  return signal.aborted ? exitCode.stopped : exitCode.notReady;
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
