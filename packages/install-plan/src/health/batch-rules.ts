import type { KubeObject } from "@quartermaster/runtime";

import { failed, type Health, inProgress, type KindRule, ready, suspended } from "./health.ts";
import { partOf, trueCondition, wordsOf } from "./object-parts.ts";

/** Work that ends. A Job that is merely running is not ready: a stage waits for its end. */
export const batchRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([["batch/Job", job]]);

function job(object: KubeObject): Health {
  if (trueCondition(object, "Complete") !== undefined) return ready("The job has completed.");
  const failure = trueCondition(object, "Failed");
  if (failure !== undefined)
    return failed(failure.reason || "JobFailed", wordsOf(failure, "The job failed."));
  if (partOf(object, "spec", "suspend") === true) return suspended("The job is suspended.");
  if (partOf(object, "status", "startTime") === undefined) {
    return inProgress("NotStarted", "The job has not started.");
  }
  return inProgress("Running", "The job is running.");
}
