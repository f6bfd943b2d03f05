import { type InstallPlan, installPlan } from "@quartermaster/api";

import { connect } from "../cluster/connect.ts";
import { getPlan } from "../cluster/get-plan.ts";
import type { Command, CommandContext } from "../command.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { clusterOptions, type Invocation, onlyPositional } from "../input/invocation.ts";
import { ourDocuments, readInput } from "../input/read-input.ts";
import { print } from "../output/print.ts";
import { explainPlan, explanationText } from "../render/explain-plan.ts";
import { isReady } from "../render/status-tree.ts";

/** Says why a plan is where it is; with a file it needs no cluster. */
export const planExplainCommand: Command = {
  name: "plan explain",
  summary: "explain the phase of a plan and what to do",
  operands: "<plan>",
  options: {
    file: {
      type: "string",
      short: "f",
      describe: "read the plan from a file, or - for standard input, instead of the cluster",
    },
    ...clusterOptions,
  },
  run: async (invocation, context) => {
    const plan = await planToExplain(invocation, context);
    const explanation = explainPlan(plan);
    print(context.terminal, invocation.format, {
      data: explanation,
      text: explanationText(plan, explanation),
    });
    return isReady(plan) ? exitCode.ok : exitCode.notReady;
  },
};

async function planToExplain(invocation: Invocation, context: CommandContext): Promise<InstallPlan> {
  const file = invocation.text("file");
  if (file !== undefined) return await planOfFile(file, invocation, context);
  await using cluster = await connect(invocation, context);
  return await getPlan(cluster, onlyPositional(invocation, "plan"), context.signal);
}

async function planOfFile(
  file: string,
  invocation: Invocation,
  context: CommandContext,
): Promise<InstallPlan> {
  if (invocation.positionals.length > 0) throw usageError("specify a plan or --file, not both");
  const { documents, problems } = await readInput([file], context.readStandardInput);
  if (problems.length > 0) throw new CliError(problems.join("\n"));
  const plans: InstallPlan[] = [];
  for (const { value, source } of ourDocuments(documents).plans) {
    const issues = installPlan.check(value);
    if (issues.length === 0) plans.push(asPlan(value));
    else
      context.terminal.note(
        `${source}: not an InstallPlan: ${issues.map(({ path, message }) => `${path} ${message}`).join("; ")}`,
      );
  }
  const [plan, ...others] = plans;
  if (plan === undefined) throw new CliError(`${file}: no InstallPlan found`, exitCode.notFound);
  if (others.length === 0) return plan;
  const names = plans.map(({ metadata }) => metadata.name).join(", ");
  throw new CliError(`${file}: there are several InstallPlans in it: ${names}; give a file with one of them`);
}

/** A plan that the server has not seen lacks the defaults; explaining does not need them. */
function asPlan(value: unknown): InstallPlan {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind's own check has just passed
  return value as InstallPlan;
}
