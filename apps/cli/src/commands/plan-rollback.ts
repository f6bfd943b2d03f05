import { type InstallPlan, installPlan } from "@quartermaster/api";
import { classify } from "@quartermaster/runtime";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getPlan, watchPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional, timeoutMs } from "../input/invocation.ts";
import { print, toYaml } from "../output/print.ts";
import { predecessorOf, rollbackPlan, rollbackText } from "../render/rollback-plan.ts";
import { progressOf, watchEnd } from "../render/status-tree.ts";

/** Goes back by going forward: a new plan with the content of the old one takes over from the current one. */
export const planRollbackCommand: Command = {
  name: "plan rollback",
  summary: "roll a plan back to the content of its predecessor",
  operands: "<plan>",
  options: {
    to: { type: "string", describe: "plan to roll back to (default: the plan that it replaced)" },
    name: { type: "string", describe: "name of the new plan (default: <predecessor>-again)" },
    "dry-run": { type: "boolean", describe: "print the new plan without creating it" },
    timeout: {
      type: "string",
      describe: "wait this many seconds for the operator to check the new plan (default: 30)",
    },
    ...clusterOptions,
  },
  run: async (invocation, context) => {
    const { terminal, signal } = context;
    const limitMs = timeoutMs(invocation, 30_000);
    await using cluster = await connect(invocation, context);
    const current = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    refuseReplaced(current);
    const target = invocation.text("to") ?? predecessorOf(current);
    if (target === undefined) {
      throw new CliError(
        `InstallPlan ${current.metadata.name} did not replace a plan; specify one with --to`,
        exitCode.notFound,
      );
    }
    const old = await getPlan(cluster, target, signal);
    const plan = rollbackPlan(old, current, invocation.text("name") ?? `${target}-again`);
    if (invocation.flag("dry-run")) {
      print(terminal, invocation.format, { data: plan, text: toYaml(plan).trimEnd() });
      return exitCode.ok;
    }
    await created(plan, cluster, signal);
    const isFinished = watchEnd((progress) => progress !== "undecided");
    const made = await watchPlan(plan.metadata.name, { cluster, context, limitMs, isFinished });
    print(terminal, invocation.format, { data: made, text: rollbackText(made, { target, current }) });
    return /^(?:ready|underWay)$/.test(progressOf(made)) ? exitCode.ok : exitCode.notReady;
  },
};

/** Two plans that replace the same one are both refused by the operator. */
function refuseReplaced({ metadata, status }: InstallPlan): void {
  if (status?.replacedBy === undefined) return;
  const { name } = status.replacedBy;
  throw new CliError(
    `InstallPlan ${metadata.name} is already replaced by ${name}; roll back ${name} instead`,
  );
}

async function created(plan: InstallPlan, { client }: Cluster, signal: AbortSignal): Promise<void> {
  try {
    await client.create(installPlan.kind, plan, { fieldManager: "qm", signal });
  } catch (error) {
    if (classify(error) !== "alreadyExists") throw error;
    const { name, namespace = "" } = plan.metadata;
    throw new CliError(`InstallPlan ${namespace}/${name} exists; choose another name with --name`);
  }
}
