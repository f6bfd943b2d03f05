export { installPlanController } from "./install-plan-controller.ts";
export type { InstallPlanOptions } from "./install-plan-controller.ts";
