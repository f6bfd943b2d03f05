import { type InstallPlan, planAnnotations } from "@quartermaster/api";

/**
 * What a person asks for by annotation, as the status records it: acted on, or come when there was nothing to retry. Undefined
 * without one. Statuses hold only what can be printed.
 */
export function retryRequestOf({ metadata: { annotations = {} } }: InstallPlan): string | undefined {
  return annotations[planAnnotations.retry]?.replaceAll(/[^!-~]/g, "_").slice(0, recordedLength);
}

const recordedLength = 64;

/** Somebody asked for another attempt, and that was not heard yet. */
export function isRetryRequested(plan: InstallPlan): boolean {
  const request = retryRequestOf(plan);
  return request !== undefined && request !== plan.status?.lastHandledRetry;
}
