import { type KubeObject, textOf } from "@quartermaster/runtime";

import { failed, type Health, type HealthFacts, inProgress, type KindRule, ready } from "./health.ts";
import { partOf } from "./object-parts.ts";

/** Claims of storage. */
export const storageRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["/PersistentVolumeClaim", claim],
]);

function claim(object: KubeObject, { isWaitForFirstConsumer }: HealthFacts): Health {
  const phase = partOf(object, "status", "phase");
  if (phase === "Bound") return ready("The claim is bound.");
  if (phase === "Lost") return failed("VolumeLost", "The volume of the claim is gone.");
  const storageClass = textOf(partOf(object, "spec"), "storageClassName");
  // Such a claim binds when a pod uses it. The pod may be in a later stage, which would wait for this one for ever.
  if (phase === "Pending" && isWaitForFirstConsumer?.(storageClass) === true) {
    return ready("The claim is bound when a pod uses it.");
  }
  return inProgress("NotBound", "The claim is not bound to a volume.");
}
