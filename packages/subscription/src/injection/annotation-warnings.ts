import { fieldOf, isJsonObject } from "@quartermaster/runtime";

import { annotations } from "./annotations.ts";

const prefix = "subscription.openshift.io/";
const known: readonly string[] = Object.values(annotations).filter((key) => key.startsWith(prefix));

/**
 * Warnings about annotations that have no effect: keys below our prefix that do not exist, and keys on a workload instead of on its pods.
 * config/policy/subscription-annotations.yaml says the same at admission.
 */
export function annotationWarnings(pod: unknown, workload?: unknown): readonly string[] {
  const onPod = keysOf(pod);
  const unknown = onPod.filter((key) => !known.includes(key));
  const misplaced = workload === undefined ? [] : keysOf(workload).filter((key) => !onPod.includes(key));
  return [
    ...unknown.map((key) => `annotation ${key} does not exist and has no effect; ${remedyFor(key)}`),
    ...misplaced.map(
      (key) =>
        `annotation ${key} has no effect here; set it on the pod template, in template.metadata.annotations`,
    ),
  ];
}

function keysOf(object: unknown): readonly string[] {
  const found = fieldOf(fieldOf(object, "metadata"), "annotations");
  if (!isJsonObject(found)) return [];
  return Object.keys(found)
    .filter((key) => key.startsWith(prefix))
    .toSorted();
}

function remedyFor(key: string): string {
  const near = known.find((each) => lettersOf(each) === lettersOf(key));
  return near === undefined ? `known are ${known.join(", ")}` : `did you mean ${near}?`;
}

/** Separators and capitals are what is mistyped most. */
function lettersOf(key: string): string {
  return key.slice(prefix.length).toLowerCase().replaceAll(/[-_]/g, "");
}
