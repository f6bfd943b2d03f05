import { installPrerequisites } from "../nodes/install-prerequisites.ts";
import type { MissingPrerequisite } from "../nodes/prerequisites.ts";
import { describeMissing, missingPrerequisites } from "../nodes/prerequisites.ts";
import { probeMachine } from "../nodes/probe-machine.ts";
import type { System } from "../system/system.ts";
import type { ClusterPlan } from "./options.ts";
import { withoutRealNodes } from "./options.ts";

/** The plan that this machine can carry out, and what must be said about the difference. */
export interface SettledPlan {
  readonly plan: ClusterPlan;
  readonly notes: readonly string[];
}

/**
 * Keeps real nodes where the machine can have them, after installing what is missing if that was asked for. Elsewhere the
 * same nodes are simulated (kwok), and one sentence says what is missing.
 */
export async function settleProfile(plan: ClusterPlan, system: System): Promise<SettledPlan> {
  if (plan.nodes.length === 0) return { plan, notes: [] };
  const missing = await findMissing(plan, system);
  if (missing.length === 0) return { plan, notes: [] };
  const note = describeMissing(missing);
  plan.report({ kind: "note", text: note });
  return { plan: withoutRealNodes(plan), notes: [note] };
}

async function findMissing(plan: ClusterPlan, system: System): Promise<readonly MissingPrerequisite[]> {
  const missing = missingPrerequisites(await probeMachine(plan.parentFolder, system));
  if (missing.length === 0 || !plan.installPrerequisites) return missing;
  await installPrerequisites({ missing, report: plan.report, system });
  return missingPrerequisites(await probeMachine(plan.parentFolder, system));
}
