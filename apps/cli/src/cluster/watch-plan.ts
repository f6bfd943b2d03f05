import type { InstallPlan } from "@quartermaster/api";

import type { CommandContext } from "../command.ts";
import type { Cluster } from "./connect.ts";
import { getPlan } from "./get-plan.ts";

const lookEveryMs = 1_000;

/** How long to look at a plan, and what for. */
export interface PlanWatch {
  readonly cluster: Cluster;
  readonly context: CommandContext;
  readonly limitMs: number;
  readonly isOver: (plan: InstallPlan) => boolean;
  /** Gets every picture of the plan, and whether it is the last one. */
  readonly show?: (plan: InstallPlan, isLast: boolean) => void;
}

/** Asks every second: one small read, for as long as a person looks. Returns the plan as it was last seen. */
export async function watchPlan(name: string, watch: PlanWatch): Promise<InstallPlan> {
  const { cluster, limitMs, isOver, show } = watch;
  const { system, signal } = watch.context;
  const end = system.monotonicMs() + limitMs;
  for (;;) {
    const plan = await getPlan(cluster, name, signal);
    const leftMs = end - system.monotonicMs();
    const isLast = isOver(plan) || leftMs <= 0;
    show?.(plan, isLast);
    if (isLast) return plan;
    await system.sleep(Math.min(lookEveryMs, leftMs), signal);
  }
}
