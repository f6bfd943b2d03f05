import { autoscalingMutants } from "./autoscaling-mutants.ts";
import { deletionMutants } from "./deletion-mutants.ts";
import { explainedMutants } from "./explained-mutants.ts";
import { handoverMutants } from "./handover-mutants.ts";
import { heldMutants } from "./held-mutants.ts";
import { integrationMutants } from "./integration-mutants.ts";
import { licenceMutants } from "./licence-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { operationMutants } from "./operation-mutants.ts";
import { ownershipMutants } from "./ownership-mutants.ts";
import { planContentMutants } from "./plan-content-mutants.ts";
import { planReportMutants } from "./plan-report-mutants.ts";
import { planRuleMutants } from "./plan-rule-mutants.ts";
import { reconcileMutants } from "./reconcile-mutants.ts";
import { runtimeMutants } from "./runtime-mutants.ts";
import { searchMutants } from "./search-mutants.ts";
import { surplusNodeMutants } from "./surplus-node-mutants.ts";

/** Every mutant, in the order in which they are run. */
export const mutants: readonly Mutant[] = [
  ...runtimeMutants,
  ...reconcileMutants,
  ...planRuleMutants,
  ...handoverMutants,
  ...deletionMutants,
  ...planContentMutants,
  ...planReportMutants,
  ...searchMutants,
  ...ownershipMutants,
  ...operationMutants,
  ...surplusNodeMutants,
  ...explainedMutants,
  ...heldMutants,
  ...licenceMutants,
  ...autoscalingMutants,
  ...integrationMutants,
];
