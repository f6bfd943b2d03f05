import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";

/** All plans of the plan's namespace, itself included: only they can replace each other. */
export function siblingsOf({ metadata: { namespace } }: InstallPlan, ctx: Context): readonly InstallPlan[] {
  return ctx
    .store(installPlan.kind)
    .list()
    .filter(({ metadata }) => metadata.namespace === namespace);
}
