import { deletionMutants } from "./deletion-mutants.ts";
import { handoverMutants } from "./handover-mutants.ts";
import { integrationMutants } from "./integration-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { planContentMutants } from "./plan-content-mutants.ts";
import { planRuleMutants } from "./plan-rule-mutants.ts";
import { reconcileMutants } from "./reconcile-mutants.ts";
import { runtimeMutants } from "./runtime-mutants.ts";

/** Every mutant, in the order in which they are run. */
export const mutants: readonly Mutant[] = [
  ...runtimeMutants,
  ...reconcileMutants,
  ...planRuleMutants,
  ...handoverMutants,
  ...deletionMutants,
  ...planContentMutants,
  ...integrationMutants,
];
