import { autoscalingMutants } from "./autoscaling.ts";
import { installPlanMutants } from "./install-plan.ts";
import { licensingMutants } from "./licensing.ts";
import type { ListedMutant } from "./listed-mutant.ts";
import { runtimeMutants } from "./runtime.ts";
import { searchOperationMutants } from "./search-operation.ts";
import { searchMutants } from "./search.ts";

/** Every listed mutant. Add one with a rule whose mistake no operator makes. */
export const listedMutants: readonly ListedMutant[] = [
  ...runtimeMutants,
  ...installPlanMutants,
  ...licensingMutants,
  ...searchMutants,
  ...searchOperationMutants,
  ...autoscalingMutants,
];
