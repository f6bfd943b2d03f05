import type { KubeObject } from "@quartermaster/runtime";

import { because, failed, type Health, type HealthFacts, inProgress, ready, terminating } from "./health.ts";
import { kindRuleOf } from "./kind-rules.ts";
import { conditionOf, conditionsOf, observedGeneration, conditionText } from "./read-conditions.ts";
import { unmetCheck } from "./unmet-check.ts";
import { podsRefused } from "./workload-rules.ts";

/**
 * Judges one object on its own, as kstatus does, with the differences of docs/reference/health.md. Pure: time comes in as
 * `stateAgeMs`, and a verdict that time alone will change says when to check again.
 *
 * @example
 * healthOf(deployment, { readiness: { mode: "Default" }, stateAgeMs: 4_000 }).state; // "InProgress"
 */
export function healthOf(object: KubeObject, facts: HealthFacts): Health {
  return (
    beingDeleted(object) ??
    notWaitedFor(facts) ??
    outOfDate(object) ??
    abnormal(object) ??
    unseenByController(object, facts) ??
    declared(object, facts) ??
    byKind(object, facts)
  );
}

function beingDeleted({ metadata }: KubeObject): Health | undefined {
  if ((metadata.deletionTimestamp ?? "") === "") return undefined;
  const { finalizers = [] } = metadata;
  if (finalizers.length === 0) return terminating("The object is being deleted.");
  return terminating(`The object is being deleted and waits for ${finalizers.join(", ")}.`);
}

function notWaitedFor({ readiness }: HealthFacts): Health | undefined {
  return readiness.mode === "Ignore" ? ready("The plan does not wait for this object.") : undefined;
}

function outOfDate(object: KubeObject): Health | undefined {
  const { generation } = object.metadata;
  const observed = observedGeneration(object);
  if (generation === undefined || observed === undefined || generation === observed) return undefined;
  return inProgress("LatestGenerationNotObserved", "Its controller has not observed the latest change yet.");
}

/** Conditions that are only there when something is out of the ordinary; the first one in the list decides. */
function abnormal(object: KubeObject): Health | undefined {
  for (const condition of conditionsOf(object)) {
    if (condition.status !== "True") continue;
    if (condition.type === "Reconciling") {
      return inProgress(
        condition.reason || "Reconciling",
        conditionText(condition, "The object is being reconciled."),
      );
    }
    if (condition.type === "Stalled") {
      return failed(condition.reason || "Stalled", conditionText(condition, "The object is stalled."));
    }
  }
  return undefined;
}

/** A controller needs up to 3 s to write its first status; without this a custom resource is ready before anybody saw it. */
const graceMs = 3_000;

function unseenByController(object: KubeObject, facts: HealthFacts): Health | undefined {
  const { hasStatusSubresource = false, stateAgeMs } = facts;
  const isSeen = conditionsOf(object).length > 0 || observedGeneration(object) !== undefined;
  if (!hasStatusSubresource || isSeen || stateAgeMs >= graceMs) return undefined;
  const waiting = inProgress("NotObserved", "No controller has reported a status yet.");
  return { ...waiting, recheckAfterMs: graceMs - stateAgeMs };
}

/** The plan's declaration replaces the kind's rule; only a failure that the rule sees is still reported. */
function declared(object: KubeObject, facts: HealthFacts): Health | undefined {
  const { mode, checks = [] } = facts.readiness;
  if (mode !== "Checks") return undefined;
  const unmet = unmetCheck(object, checks);
  if (unmet === undefined) return ready("All checks pass.");
  const usual = byKind(object, facts);
  return usual.state === "Failed" ? usual : inProgress(unmet.reason, unmet.message);
}

function byKind(object: KubeObject, facts: HealthFacts): Health {
  const rule = kindRuleOf(object);
  if (rule !== undefined) return explained(rule(object, facts), facts);
  const condition = conditionOf(object, "Ready");
  if (condition === undefined) return ready("The object exists.");
  if (condition.status === "True") return ready(conditionText(condition, "The object is ready."));
  return inProgress(condition.reason || "NotReady", conditionText(condition, "The object is not ready."));
}

/** Numbers of replicas say that something is wrong, a pod says what. Pods that the server refuses do not exist. */
function explained(verdict: Health, { podTrouble }: HealthFacts): Health {
  const isOpen = verdict.state === "InProgress" || verdict.state === "Failed";
  if (podTrouble === undefined || !isOpen || verdict.reason === podsRefused) return verdict;
  return because(podTrouble, verdict);
}
