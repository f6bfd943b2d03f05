import { type InstallPlan, installPlan } from "@quartermaster/api";

import { CliError } from "../errors.ts";
import { exitCode } from "../exit-code.ts";
import type { Cluster } from "./connect.ts";

/** The plan of this name; ends the program with `not found` when there is none. */
export async function getPlan(
  { client, namespace }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<InstallPlan> {
  const plan = await client.find(installPlan.kind, { name, namespace }, { signal });
  if (plan !== undefined) return plan;
  throw new CliError(
    `InstallPlan ${name} not found in namespace ${namespace}; list plans with kubectl get installplans -A`,
    exitCode.notFound,
  );
}
