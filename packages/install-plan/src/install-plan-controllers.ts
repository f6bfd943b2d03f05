import type { Controller } from "@quartermaster/runtime";

import { installPlanController, type InstallPlanOptions } from "./install-plan-controller.ts";
import { resourceManifestController } from "./resource-manifest-controller.ts";

/**
 * Every controller of the domain: plans, and the manifests that they refer to.
 *
 * @example
 * createManager({ transport, system, controllers: installPlanControllers({ system, discovery }) });
 */
export function installPlanControllers(options: InstallPlanOptions): readonly Controller[] {
  const { namespace, concurrency } = options;
  const place = namespace === undefined ? {} : { namespace };
  return [
    installPlanController(options),
    resourceManifestController({ ...place, ...(concurrency === undefined ? {} : { concurrency }) }),
  ];
}
