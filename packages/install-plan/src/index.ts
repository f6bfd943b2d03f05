export { installPlanController } from "./install-plan-controller.ts";
export type { InstallPlanOptions } from "./install-plan-controller.ts";
export { installPlanControllers } from "./install-plan-domain.ts";
export { installPlanDomain } from "./install-plan-domain.ts";
export type { InstallPlanDomainOptions } from "./install-plan-domain.ts";
export { planMetrics } from "./plan-metrics.ts";
export type { PlanObserver, Repair, WriteVerb } from "./plan-observer.ts";
export { resourceManifestController } from "./resource-manifest-controller.ts";
export type { ResourceManifestOptions } from "./resource-manifest-controller.ts";
