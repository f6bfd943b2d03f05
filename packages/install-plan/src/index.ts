export { installPlanController, type InstallPlanOptions } from "./install-plan-controller.ts";
export {
  installPlanControllers,
  installPlanDomain,
  type InstallPlanDomainOptions,
} from "./install-plan-domain.ts";
export { phasePage } from "./report/phase-table.ts";
export { planMetrics, type PlanObserver, type Repair, type WriteVerb } from "./plan-metrics.ts";
export {
  resourceManifestController,
  type ResourceManifestOptions,
} from "./manifest/resource-manifest-controller.ts";
