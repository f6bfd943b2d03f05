import { type InstallPlan, installPlan } from "@quartermaster/api";
import { impersonationOf } from "@quartermaster/install-plan/offline";
import { reviewAccess } from "@quartermaster/runtime";

import type { CommandContext } from "../command.ts";
import { CliError, exitCode } from "../errors.ts";
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

const observeEveryMs = 1_000;

/** How long to look at a plan, and what for. */
export interface PlanWatch {
  readonly cluster: Cluster;
  readonly context: CommandContext;
  readonly limitMs: number;
  readonly isFinished: (plan: InstallPlan) => boolean;
  /** Gets every picture of the plan, and whether it is the last one. */
  readonly show?: (plan: InstallPlan, isLast: boolean) => void;
}

/** Asks every second: one small read, for as long as a user looks. Returns the plan as it was last seen. */
export async function watchPlan(name: string, watch: PlanWatch): Promise<InstallPlan> {
  const { cluster, limitMs, isFinished, show } = watch;
  const { system, signal } = watch.context;
  const end = system.monotonicMs() + limitMs;
  for (;;) {
    const plan = await getPlan(cluster, name, signal);
    const leftMs = end - system.monotonicMs();
    const isLast = isFinished(plan) || leftMs <= 0;
    show?.(plan, isLast);
    if (isLast) return plan;
    await system.sleep(Math.min(observeEveryMs, leftMs), signal);
  }
}

/** Sets an annotation by which a user tells the operator something; with the uid, so that it means the plan that was looked at. */
export async function confirmPlan(
  { metadata }: InstallPlan,
  { annotation, value }: { readonly annotation: string; readonly value: string },
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<InstallPlan> {
  const { name, namespace = "", uid } = metadata;
  const body = { metadata: { uid, annotations: { [annotation]: value } } };
  const options = { patch: { kind: "merge", body }, fieldManager: "qm", signal } as const;
  return await cluster.client.patch(installPlan.kind, { name, namespace }, options);
}

/**
 * The cluster as the plan's service account sees it. Whether the user may act as it is queried first: otherwise every object
 * would look refused, when it is the user who is.
 */
export async function actAsAccount(
  plan: InstallPlan,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Cluster> {
  const { client, namespace } = cluster;
  const name = plan.spec.serviceAccountName;
  if (await reviewAccess(client, impersonationOf({ namespace, name }), { signal }))
    return { ...cluster, client: client.as({ user: `system:serviceaccount:${namespace}:${name}` }) };
  throw new CliError(
    `you are not allowed to impersonate service account ${namespace}/${name}, which is required to check the plan; request the permission to impersonate it`,
  );
}
