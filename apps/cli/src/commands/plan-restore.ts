import { type InstallPlan, planAnnotations } from "@quartermaster/api";

import { connect } from "../cluster/connect.ts";
import { confirmPlan, getPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { objectTitle } from "../render/object-title.ts";

/** Says that a plan was restored from a backup together with its objects, so that it takes them back. */
export const planRestoreCommand: Command = {
  name: "plan restore",
  summary: "let a plan take back the objects that were restored from a backup with it",
  operands: "<plan>",
  options: {
    "dry-run": { type: "boolean", describe: "print what the plan would take back without confirming it" },
    ...clusterOptions,
  },
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const lines = takenBack(plan);
    const { name, namespace = "", uid = "" } = plan.metadata;
    if (invocation.flag("dry-run")) {
      print(terminal, invocation.format, { data: plan.status?.details ?? [], text: lines.join("\n") });
      return exitCode.ok;
    }
    const confirmation = { annotation: planAnnotations.restore, value: uid };
    const after = await confirmPlan(plan, confirmation, { cluster, signal });
    const text = [...lines, `confirmed that InstallPlan ${namespace}/${name} was restored`].join("\n");
    print(terminal, invocation.format, { data: after.metadata, text });
    return exitCode.ok;
  },
};

/** What a status lists. */
const listedObjects = 100;

/** What the confirmation means; the operator takes only those objects that bear the labels of the earlier plan. */
function takenBack({ metadata: { name }, spec, status }: InstallPlan): readonly string[] {
  const objects = (status?.details ?? []).filter(({ action }) => action === "conflict");
  if (objects.length === 0)
    throw new CliError(`InstallPlan ${name} conflicts with no object: there is nothing to restore`);
  const jobs = spec.stages.flatMap(({ name: stage, jobs: own = [] }) =>
    own.map((job) => `  job ${job.name} of stage ${stage}`),
  );
  return [
    "takes back, if they have the labels of the earlier plan:",
    ...objects.map(({ object }) => `  ${objectTitle(object)}`),
    ...(objects.length >= listedObjects ? ["  and perhaps more, which the status has no room for"] : []),
    ...(jobs.length === 0 ? [] : ["does not run:", ...jobs]),
  ];
}
