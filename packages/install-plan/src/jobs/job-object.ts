import {
  ApiError,
  type Client,
  fieldOf,
  inParallel,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  withoutFields,
} from "@quartermaster/runtime";
import { jobs as jobKind } from "@quartermaster/runtime/kinds";

import { identityKey } from "../model/identity.ts";
import { isLasting, refusalText } from "../model/write-failure.ts";
import { ownerLabelsFor } from "../ownership/owner-labels.ts";
import type { DryRun, PlanMemory } from "../plan-memory.ts";
import type { Seen } from "../seen.ts";
import type { JobView } from "./job-view.ts";

/**
 * The Job of one try. It ends by its own deadline, also when no one of us is there to end it; it is removed by us and not by
 * a time to live, because its end has to be remembered first; its pod speaks as the plan's account.
 */
export function jobObject(
  job: JobView,
  { plan, ownerLabels }: Pick<Seen, "plan" | "ownerLabels">,
): KubeObject & { readonly spec: JsonObject } {
  const { namespace = "", name, uid = "" } = plan.metadata;
  const identity = { apiVersion: "batch/v1", kind: "Job", namespace, name: job.jobName };
  const template = isJsonObject(job.spec.template) ? job.spec.template : {};
  const { labels, annotations } = ownerLabelsFor(ownerLabels, identity);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: job.jobName,
      namespace,
      labels,
      annotations,
      ownerReferences: [{ apiVersion: plan.apiVersion, kind: plan.kind, name, uid }],
    },
    spec: {
      ...withoutFields(template, new Set(["ttlSecondsAfterFinished"])),
      activeDeadlineSeconds: deadlineOf(template, job.spec.timeoutSeconds),
      template: podTemplate(fieldOf(template, "template"), plan.spec.serviceAccountName),
    },
  };
}

function deadlineOf(template: JsonObject, timeoutSeconds: number): number {
  const own = template["activeDeadlineSeconds"];
  return typeof own === "number" ? Math.min(own, timeoutSeconds) : timeoutSeconds;
}

function podTemplate(template: unknown, serviceAccountName: string): JsonObject {
  const pod = isJsonObject(template) ? template : {};
  const spec = fieldOf(pod, "spec");
  return {
    ...pod,
    spec: { restartPolicy: "Never", serviceAccountName, ...(isJsonObject(spec) ? spec : {}) },
  };
}

export interface JobDryRun extends Pick<Seen, "plan" | "ownerLabels" | "jobs"> {
  readonly memory: PlanMemory;
  /** Speaks as the account. */
  readonly account: Client;
}

/** Queries the server what it would make of each job: a template that it refuses must not be found out in the middle. */
export async function dryRunJobs(question: JobDryRun): Promise<readonly DryRun[]> {
  return await inParallel(question.jobs, 16, async (job) => await request(job, question));
}

async function request(job: JobView, question: JobDryRun): Promise<DryRun> {
  const { memory, account } = question;
  const object = jobObject(job, question);
  const key = identityKey({ ...object, ...object.metadata });
  const known = memory.dryRuns.get(key);
  if (known !== undefined) return known.result;
  const result = await tryJob(
    job,
    async () => await account.create<KubeObject>(jobKind, object, { dryRun: true }),
  );
  // A template never changes; what the server thinks of it may, so that only a yes is kept.
  if (result.kind === "fine") memory.dryRuns.set(key, { stamp: "job", result });
  return result;
}

async function tryJob(job: JobView, create: () => Promise<unknown>): Promise<DryRun> {
  try {
    await create();
    return { kind: "fine", isNew: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.class === "alreadyExists") return { kind: "fine", isNew: false };
    const message = `job ${job.spec.name} of stage ${job.stage} was rejected: ${refusalText(error)}`;
    if (!isLasting(error.class)) return { kind: "transient", message, retryAfterMs: error.retryAfterMs ?? 0 };
    const field = `jobs[${job.spec.name}].template.${(error.causes[0]?.field ?? "").replace(/^spec\./, "")}`;
    return { kind: "issue", issue: { reason: "InvalidJob", stage: job.stage, field, message } };
  }
}
