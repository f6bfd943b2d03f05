export { condition, conditions } from "./condition.ts";
export { installPlan } from "./install-plan/install-plan.ts";
export type { InstallPlan } from "./install-plan/install-plan.ts";
export { planPhases } from "./install-plan/install-plan-status.ts";
export type { PlanPhase } from "./install-plan/install-plan-status.ts";
export { kinds } from "./kinds.ts";
export { resourceManifest } from "./install-plan/resource-manifest.ts";
export type { ResourceManifest } from "./install-plan/resource-manifest.ts";
