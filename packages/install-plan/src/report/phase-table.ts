import { type PlanPhase, planPhases } from "@quartermaster/api";

import type { PlanStatus } from "../model/plan-status.ts";

type ConditionStatus = "True" | "False" | "Unknown";

export interface PhaseRow {
  readonly means: string;
  /** Who acts next. */
  readonly next: string;
  /** Conditions that have this status whenever the plan is in the phase; the others say what they see. */
  readonly always: Readonly<Record<string, ConditionStatus>>;
  /** At least one of these is not as on a good day: it is the cause of the phase. */
  readonly because?: Readonly<Record<string, ConditionStatus>>;
}

const inForce = { Ready: "False", Superseded: "False" } as const;
const atWork = { ...inForce, Reconciling: "True", Stalled: "False" } as const;
const stuck = { ...inForce, Reconciling: "False", Stalled: "True" } as const;
const atRest = { Reconciling: "False", Stalled: "False" } as const;

/** Every phase; docs/reference/plan-phases.md is generated from it, and no status contradicts it. */
export const phaseTable: Readonly<Record<PlanPhase, PhaseRow>> = {
  Resolving: {
    means: "A manifest that the plan refers to does not exist yet. Nothing has been written.",
    next: "You create the manifest.",
    always: { ...atWork, Resolved: "False" },
  },
  Validating: {
    means:
      "The plan is being checked, or waits for plans that it depends on, or for the plan that it replaces to stop writing. Nothing has been written.",
    next: "The operator, or the plans that are waited for.",
    always: atWork,
  },
  Invalid: {
    means: "The plan cannot be applied as it is. Nothing has been written.",
    next: "You fix the cause, or create a new plan.",
    always: stuck,
    because: { Resolved: "False", Validated: "False" },
  },
  Forbidden: {
    means: "The service account, the plan's author or the operator lacks a permission.",
    next: "You grant the permission; the plan continues automatically.",
    always: stuck,
    because: { Authorized: "False" },
  },
  AwaitingApproval: {
    means: "The preview waits for approval. Nothing has been written.",
    next: "You approve the preview.",
    always: { ...atWork, Approved: "False", Resolved: "True", Validated: "True", Authorized: "True" },
  },
  Applying: {
    means: "Objects of a stage are being written, or the stage waits for them to be ready.",
    next: "The operator and the controllers of the objects.",
    always: { ...atWork, Approved: "True" },
  },
  RunningJobs: {
    means: "A job of a stage is running.",
    next: "The job.",
    always: { ...atWork, Approved: "True" },
  },
  Finishing: {
    means: "Every stage is passed; objects of replaced plans and of transformations are being deleted.",
    next: "The operator.",
    always: { ...atWork, Approved: "True" },
  },
  Installed: {
    means: "Everything is installed and ready.",
    next: "No one. Drift is reverted.",
    always: {
      ...atRest,
      Ready: "True",
      Resolved: "True",
      Validated: "True",
      Authorized: "True",
      Approved: "True",
      Applied: "True",
      Drifted: "False",
      Superseded: "False",
    },
  },
  Degraded: {
    means:
      "Everything was installed, and now something is missing, not ready, changed, or cannot be repaired.",
    next: "The message says who: the operator, the controller of an object, or you.",
    always: { ...inForce, Approved: "True" },
  },
  Failed: {
    means: "The attempt failed. What was written stays; with `onFailure: Rollback` it is handed back.",
    next: "The operator tries again after `retry`, unless the message says that it waits for you.",
    always: inForce,
    because: { Stalled: "True", Reconciling: "True" },
  },
  Replacing: {
    means: "Another plan is taking over; this one no longer writes anything.",
    next: "The other plan.",
    always: atWork,
  },
  Superseded: {
    means: "Another plan has replaced this one; it is kept so that you can roll back.",
    next: "No one.",
    always: { Ready: "False", Applied: "False", Superseded: "True" },
  },
  Paused: {
    means: "`spec.paused` is set: nothing is written, the status is still updated.",
    next: "You set `spec.paused` to false.",
    always: { ...inForce, ...atRest },
  },
  Deleting: {
    means: "The plan is being deleted, and its objects with it.",
    next: "The operator; with `DeletionBlocked` you.",
    always: { Ready: "False" },
  },
};

/** Where the phase and the conditions of a status contradict each other; empty when they do not. */
export function contradictionsIn({
  phase,
  conditions = [],
}: Pick<PlanStatus, "phase" | "conditions">): readonly string[] {
  if (phase === undefined) return [];
  const { always, because } = phaseTable[phase];
  const output = new Map(conditions.map(({ type, status }) => [type, status]));
  const wrong = Object.entries(always)
    .filter(([type, status]) => output.has(type) && output.get(type) !== status)
    .map(([type]) => `${phase} with ${type}=${output.get(type) ?? ""}`);
  const isUnfounded =
    because !== undefined && !Object.entries(because).some(([type, status]) => output.get(type) === status);
  const isReadyElsewhere = phase !== "Installed" && output.get("Ready") === "True";
  const isSupersededElsewhere =
    phase !== "Superseded" && phase !== "Deleting" && output.get("Superseded") === "True";
  return [
    ...wrong,
    ...(isUnfounded ? [`${phase} without a cause`] : []),
    ...(isReadyElsewhere ? [`${phase} and Ready`] : []),
    ...(isSupersededElsewhere ? [`${phase} and Superseded`] : []),
  ];
}

/** The table as a page of the reference. */
export function phasePage(): string {
  const rows = planPhases.map((phase) => {
    const { means, next, always, because } = phaseTable[phase];
    const fixed = Object.entries(always).map(([type, status]) => `\`${type}=${status}\``);
    const causes = Object.entries(because ?? {}).map(([type, status]) => `\`${type}=${status}\``);
    const cells = [...fixed, ...(causes.length === 0 ? [] : [causes.join(" or ")])];
    return `| \`${phase}\` | ${means} | ${next} | ${cells.join(", ")} |`;
  });
  return [
    "# Phases of an InstallPlan",
    "",
    "Generated from `packages/install-plan/src/report/phase-table.ts` by `npm run gen`.",
    "",
    "`status.phase` summarizes a plan in one word for people. Tools should read the conditions: `Ready` is `True` exactly in the phase",
    "`Installed`. The last column lists what the conditions always say in the phase; conditions that it does not list say what the operator",
    "observes. Phase and conditions never contradict this table.",
    "",
    "| phase | what it means | who acts next | conditions |",
    "|---|---|---|---|",
    ...rows,
    "",
    "A plan that is paused while another plan takes over is `Replacing`, then `Superseded`. A plan stays `Superseded` when the plan that replaced",
    "it is deleted: its objects went with that plan. To install its content again, create a new plan.",
    "",
  ].join("\n");
}
