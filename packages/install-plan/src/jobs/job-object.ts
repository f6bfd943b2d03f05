import {
  fieldOf,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  withoutFields,
} from "@quartermaster/runtime";

import { ownerLabelsFor } from "../ownership/owner-labels.ts";
import type { Seen } from "../seen.ts";
import type { JobView } from "./job-view.ts";

/**
 * The Job of one try. It ends by its own deadline, also when nobody of us is there to end it; it is removed by us and not by
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
