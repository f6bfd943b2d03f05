import type { KubeObject } from "@quartermaster/runtime";

import { readJson } from "../manifest/read-json.ts";
import { failed, type Health, type HealthFacts, inProgress, type KindRule, ready, until } from "./health.ts";
import { conditionsOf, type ReadCondition, readConditions, wordsOf } from "./object-parts.ts";

/** Autoscalers of all versions. */
export const autoscalingRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["autoscaling/HorizontalPodAutoscaler", autoscaler],
]);

/** Metrics of pods that have just started take a minute or two to arrive. */
const failsAfterMs = 120_000;

const faults: ReadonlySet<string> = new Set([
  "AbleToScale/FailedGetScale",
  "AbleToScale/FailedUpdateScale",
  "ScalingActive/FailedGetResourceMetric",
  "ScalingActive/InvalidSelector",
]);

function autoscaler(object: KubeObject, { stateAgeMs }: HealthFacts): Health {
  const conditions = autoscalerConditions(object);
  const fault = conditions.find(({ type, reason }) => faults.has(`${type}/${reason}`));
  if (fault !== undefined) {
    const words = wordsOf(fault, "The autoscaler cannot work.");
    return until(failsAfterMs, stateAgeMs, [inProgress(fault.reason, words), failed(fault.reason, words)]);
  }
  const isAble = conditions.some(({ type, status }) => type === "AbleToScale" && status === "True");
  if (isAble) return ready("The autoscaler can scale its target.");
  return inProgress("NotAbleToScale", "The autoscaler cannot scale its target yet.");
}

/** In `autoscaling/v1` the conditions are in an annotation. */
function autoscalerConditions(object: KubeObject): readonly ReadCondition[] {
  const inStatus = conditionsOf(object);
  const { annotations = {} } = object.metadata;
  const name = "autoscaling.alpha.kubernetes.io/conditions";
  if (inStatus.length > 0 || !Object.hasOwn(annotations, name)) return inStatus;
  const reading = readJson(annotations[name] ?? "");
  return reading.kind === "read" && Array.isArray(reading.value) ? readConditions(reading.value) : [];
}
