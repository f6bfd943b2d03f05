import { type InstallPlan, installPlan } from "@quartermaster/api";

import { connect } from "../cluster/connect.ts";
import { getPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { previewText } from "../render/preview-text.ts";

/** Approves the preview that the plan shows now, and no other. */
export const planApproveCommand: Command = {
  name: "plan approve",
  summary: "approve the preview of a plan that waits for it",
  operands: "<plan>",
  options: {
    preview: { type: "string", describe: "approve only if the preview still has this digest" },
    ...clusterOptions,
  },
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, system);
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const digest = digestToApprove(plan, invocation.text("preview"));
    const { name, namespace = "", resourceVersion } = plan.metadata;
    const approved = { spec: { approved: true, approvedPreview: digest }, metadata: { resourceVersion } };
    const after = await cluster.client.patch(
      installPlan.kind,
      { name, namespace },
      { patch: { kind: "merge", body: approved }, fieldManager: "qm", signal },
    );
    const text = `${previewText(plan)}\napproved InstallPlan ${namespace}/${name}, preview ${digest}`;
    print(terminal, invocation.format, { data: after.spec, text });
    return exitCode.ok;
  },
};

/** The resourceVersion goes along with the patch, so what was looked at is what is approved. */
function digestToApprove({ spec, status }: InstallPlan, wanted: string | undefined): string {
  if (spec.approval !== "Manual")
    throw new CliError("the plan needs no approval: spec.approval is Automatic");
  const digest = status?.preview?.digest;
  if (digest === undefined) {
    throw new CliError("there is no preview to approve yet; qm plan explain says why", exitCode.notReady);
  }
  if (wanted === undefined || wanted === digest) return digest;
  throw new CliError(`the preview has changed: its digest is ${digest}; look at it again`, exitCode.notReady);
}
