export { installPlanController } from "./install-plan-controller.ts";
export type { InstallPlanOptions } from "./install-plan-controller.ts";
export { installPlanControllers } from "./install-plan-controllers.ts";
export { countedStates, countPhases, countStates, planPhases } from "./plan-census.ts";
export type { CountedState } from "./plan-census.ts";
export type { PlanObserver, Repair, WriteVerb } from "./plan-observer.ts";
export { resourceManifestController } from "./resource-manifest-controller.ts";
export type { ResourceManifestOptions } from "./resource-manifest-controller.ts";
