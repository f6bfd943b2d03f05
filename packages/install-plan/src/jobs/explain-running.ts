import { isLookDue, lookAtPods, lookDueInMs, mayNotLook, type PodLookParts } from "../members/pod-looks.ts";
import type { JobView } from "./job-view.ts";

/**
 * Says of the Job that runs why its pods fail or do not start: until its deadline it would be running and nothing else. The pods are
 * read as the plan's account, as those of workloads are. What is found changes words only.
 */
export async function explainRunning(
  jobs: readonly JobView[],
  parts: Pick<PodLookParts, "memory" | "nowMs" | "account">,
): Promise<readonly JobView[]> {
  const { memory, nowMs } = parts;
  const running = jobs.find(({ state, live }) => state === "Running" && live !== undefined);
  if (running === undefined) {
    memory.jobLook = undefined;
    return jobs;
  }
  const { jobName, live } = running;
  const last = memory.jobLook?.jobName === jobName ? memory.jobLook.look : undefined;
  const look =
    last === undefined || isLookDue(last, live, nowMs) ? await lookAtPods(last, live, parts) : last;
  memory.jobLook = { jobName, look };
  const message = look.trouble?.message ?? ofJobAlone(running, look.isForbidden === true);
  const dueInMs = lookDueInMs(look, live, nowMs);
  const explained = {
    ...running,
    ...(message === undefined ? {} : { message: message.slice(0, 256) }),
    ...(dueInMs === undefined ? {} : { lookDueInMs: dueInMs }),
  };
  return jobs.map((job) => (job === running ? explained : job));
}

/** What the Job itself says, where its pods say nothing or may not be read. */
function ofJobAlone({ live }: JobView, isForbidden: boolean): string | undefined {
  if ((live?.status?.failed ?? 0) === 0) return undefined;
  return `Pods of it have failed.${isForbidden ? ` ${mayNotLook}` : ""}`;
}
