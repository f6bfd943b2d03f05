import { type InstallPlan, planAnnotations } from "@quartermaster/api";
import { serviceAccounts } from "@quartermaster/runtime/kinds";

import { type Cluster, connect } from "../cluster/connect.ts";
import { confirmPlan, getPlan } from "../cluster/get-plan.ts";
import type { Command } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
import { clusterOptions, onlyPositional } from "../input/invocation.ts";
import { print } from "../output/print.ts";

/** Says that a service account that was deleted and recreated is the right one for the plan. */
export const planTrustCommand: Command = {
  name: "plan trust",
  summary: "let a plan use its recreated service account",
  operands: "<plan>",
  options: clusterOptions,
  run: async (invocation, { system, terminal, signal }) => {
    await using cluster = await connect(invocation, { system, terminal });
    const plan = await getPlan(cluster, onlyPositional(invocation, "plan"), signal);
    const value = await recreatedUid(plan, cluster, signal);
    const confirmation = { annotation: planAnnotations.trust, value };
    const after = await confirmPlan(plan, confirmation, { cluster, signal });
    const { name, namespace = "" } = plan.metadata;
    const text = `InstallPlan ${namespace}/${name} may use service account ${plan.spec.serviceAccountName} with uid ${value}`;
    print(terminal, invocation.format, { data: after.metadata, text });
    return exitCode.ok;
  },
};

/** The uid of the account as it is now: a later one of the same name is not trusted by this. */
async function recreatedUid(
  { metadata: { namespace = "", name }, spec, status }: InstallPlan,
  { client }: Cluster,
  signal: AbortSignal,
): Promise<string> {
  const account = spec.serviceAccountName;
  const found = await client.find(serviceAccounts, { namespace, name: account }, { signal });
  if (found?.metadata.uid === undefined)
    throw new CliError(
      `service account ${namespace}/${account} does not exist; create it first`,
      exitCode.notFound,
    );
  const { uid } = found.metadata;
  if (status?.serviceAccountUid === undefined || status.serviceAccountUid === uid)
    throw new CliError(`InstallPlan ${name} uses service account ${account} already`);
  return uid;
}
