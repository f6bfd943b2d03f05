import { type InstallPlan, planAnnotations } from "@quartermaster/api";

import { connect } from "../cluster/connect.ts";
import { confirmPlan, getPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";

/** Requests another attempt of a failed plan; what is installed already is left alone. */
export const planRetryCommand: Command = {
  name: "plan retry",
  summary: "start another attempt of a failed plan",
  operands: "<plan>",
  options: clusterOptions,
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    refuseOthers(plan);
    const { name, namespace = "" } = plan.metadata;
    const value = new Date(system.wallMs()).toISOString();
    const confirmation = { annotation: planAnnotations.retry, value };
    const after = await confirmPlan(plan, confirmation, { cluster, signal });
    const text = `requested another attempt of InstallPlan ${namespace}/${name}; run qm plan status ${name} --watch to follow it`;
    print(terminal, invocation.format, { data: after.metadata, text });
    return exitCode.ok;
  },
};

/** A plan that continues on its own, or can never continue, has nothing to retry. */
function refuseOthers({ metadata: { name }, spec, status }: InstallPlan): void {
  const { phase = "not observed yet", replaces = [] } = status ?? {};
  if (phase !== "Failed")
    throw new CliError(`InstallPlan ${name} is ${phase}; only a failed plan is retried`);
  if (spec.paused) throw new CliError(`InstallPlan ${name} is paused; set spec.paused to false first`);
  if (replaces.some(({ state }) => state === "Pending"))
    throw new CliError(`InstallPlan ${name} has rolled back; apply a new plan instead`);
}
