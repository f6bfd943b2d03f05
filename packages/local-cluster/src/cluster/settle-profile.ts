import type { ClusterPlan } from "./options.ts";
import type { System } from "../system/system.ts";

/** The plan that this machine can carry out, and what must be said about the difference. */
export interface SettledPlan {
  readonly plan: ClusterPlan;
  readonly notes: readonly string[];
}

/** Keeps real nodes where the machine can have them. */
export async function settleProfile(plan: ClusterPlan, _system: System): Promise<SettledPlan> {
  return await Promise.resolve({ plan, notes: [] });
}
