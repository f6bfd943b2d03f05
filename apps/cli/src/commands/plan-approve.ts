import { type InstallPlan, installPlan } from "@quartermaster/api";
import { classify } from "@quartermaster/runtime";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";
import { previewText } from "../render/diff-text.ts";

/** Approves the preview that the plan shows now, and no other. */
export const planApproveCommand: Command = {
  name: "plan approve",
  summary: "approve the preview of a plan",
  operands: "<plan>",
  options: {
    preview: { type: "string", describe: "only approve if the preview still has this digest" },
    ...clusterOptions,
  },
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const name = onlyPositional(invocation, "plan");
    const first = await getPlan(cluster, name, signal);
    const digest = digestToApprove(first, invocation.text("preview"));
    const after = await approve(first, digest, { cluster, signal });
    const { namespace = "" } = first.metadata;
    const text = `${previewText(first)}\napproved InstallPlan ${namespace}/${name}, preview ${digest}`;
    print(terminal, invocation.format, { data: after.spec, text });
    return exitCode.ok;
  },
};

/** Each is a status that the operator wrote between our read and our write. */
const tries = 10;

/** The resourceVersion goes along with the patch, so what was looked at is what is approved; a newer status is looked at again. */
async function approve(
  first: InstallPlan,
  digest: string,
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<InstallPlan> {
  const { name, namespace = "" } = first.metadata;
  let plan = first;
  for (let attempt = 1; ; attempt += 1) {
    const { resourceVersion } = plan.metadata;
    const body = { spec: { approved: true, approvedPreview: digest }, metadata: { resourceVersion } };
    const options = { patch: { kind: "merge", body }, fieldManager: "qm", signal } as const;
    try {
      return await cluster.client.patch(installPlan.kind, { name, namespace }, options);
    } catch (error) {
      if (classify(error) !== "conflict" || attempt >= tries) throw error;
    }
    plan = await getPlan(cluster, name, signal);
    digestToApprove(plan, digest);
  }
}

/** Phases in which nothing can be approved: the preview shows what the plan would do if it were not for its faults. */
const hopeless: ReadonlySet<string> = new Set(["Invalid", "Forbidden", "Resolving"]);

function refuseHopeless({ phase, message = "" }: NonNullable<InstallPlan["status"]> = {}): void {
  if (phase === undefined || !hopeless.has(phase)) return;
  const remedy = "Fix this before approving the plan";
  throw new CliError(`the plan is ${phase}: ${message} ${remedy}`, exitCode.notReady);
}

function digestToApprove({ spec, status }: InstallPlan, wanted: string | undefined): string {
  if (spec.approval !== "Manual")
    throw new CliError("the plan does not require approval: spec.approval is Automatic");
  const digest = status?.preview?.digest;
  if (digest === undefined) {
    throw new CliError("no preview to approve yet; run qm plan explain for the reason", exitCode.notReady);
  }
  refuseHopeless(status);
  if (wanted === undefined || wanted === digest) return digest;
  throw new CliError(`the preview has changed: its digest is ${digest}; review it again`, exitCode.notReady);
}
