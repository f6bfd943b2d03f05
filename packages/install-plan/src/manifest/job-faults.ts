import { fieldOf, isJsonObject, listOf } from "@quartermaster/runtime";

import type { ObjectFault } from "./object-faults.ts";

/**
 * What is wrong with the template of a stage's job, all of it. A job is code that runs under some account, so it runs under
 * the plan's or not at all; the rest of the pod is for the server and its policies to judge.
 */
export function jobFaults(template: unknown, serviceAccountName: string): readonly ObjectFault[] {
  const pod = fieldOf(fieldOf(template, "template"), "spec");
  if (!isJsonObject(pod)) {
    return [
      {
        field: "template.spec",
        message: "is required: a job's template is the spec of a Job, with a pod template",
      },
    ];
  }
  return [...endFaults(template, pod), ...accountFaults(pod, serviceAccountName)];
}

/** A job that cannot end would hold the plan up until its deadline. */
function endFaults(template: unknown, pod: unknown): readonly ObjectFault[] {
  const restartPolicy = fieldOf(pod, "restartPolicy");
  return [
    ...(listOf(pod, "containers").length > 0
      ? []
      : [{ field: "template.spec.containers", message: "must contain at least one container" }]),
    ...(restartPolicy === "Never" || restartPolicy === "OnFailure"
      ? []
      : [{ field: "template.spec.restartPolicy", message: "must be Never or OnFailure" }]),
    ...(fieldOf(template, "suspend") === true
      ? [{ field: "suspend", message: "must not be true: a suspended job never finishes" }]
      : []),
  ];
}

function accountFaults(pod: unknown, serviceAccountName: string): readonly ObjectFault[] {
  return ["serviceAccountName", "serviceAccount"]
    .filter(
      (field) =>
        ![undefined, null, "", serviceAccountName].some((allowed) => fieldOf(pod, field) === allowed),
    )
    .map((field) => ({
      field: `template.spec.${field}`,
      message: `must be empty or the plan's service account ${serviceAccountName}`,
    }));
}
