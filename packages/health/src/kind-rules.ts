import { fieldOf, groupOf, type KubeObject, listOf, parseJson, textOf } from "@quartermaster/runtime";

import {
  failed,
  type Health,
  type HealthFacts,
  inProgress,
  type KindRule,
  ready,
  suspended,
  terminating,
  until,
} from "./health.ts";
import {
  conditionOf,
  conditionsOf,
  partOf,
  type ReadCondition,
  readConditions,
  trueCondition,
  conditionText,
} from "./read-conditions.ts";
import { podRules, workloadRules } from "./workload-rules.ts";

/** Claims of storage. */
const storageRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["/PersistentVolumeClaim", claim],
]);

function claim(object: KubeObject, { isWaitForFirstConsumer }: HealthFacts): Health {
  const phase = partOf(object, "status", "phase");
  if (phase === "Bound") return ready("The claim is bound.");
  if (phase === "Lost") return failed("VolumeLost", "The volume of the claim is deleted.");
  const storageClass = textOf(partOf(object, "spec"), "storageClassName");
  // Such a claim binds when a pod uses it. The pod may be in a later stage, which would wait for this one for ever.
  if (phase === "Pending" && isWaitForFirstConsumer?.(storageClass) === true) {
    return ready("The claim is bound when a pod uses it.");
  }
  return inProgress("NotBound", "The claim is not bound to a volume.");
}

/**
 * An address of a load balancer is waited for only where the plan requests it: on a cluster without a balancer a stage would wait
 * for ever.
 */
const networkRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["/Service", service],
  ["networking.k8s.io/Ingress", ingress],
  ["extensions/Ingress", ingress],
]);

function service(object: KubeObject, { readiness }: HealthFacts): Health {
  const type = textOf(partOf(object, "spec"), "type") ?? "ClusterIP";
  if (type === "ExternalName") return ready("The service is an external name.");
  if ((textOf(partOf(object, "spec"), "clusterIP") ?? "") === "") {
    return inProgress("NoClusterIP", "The service has no cluster IP yet.");
  }
  if (type !== "LoadBalancer" || readiness.mode !== "LoadBalancer")
    return ready("The service has an address.");
  return hasBalancer(object) ? ready("The load balancer has an address.") : waitingForBalancer();
}

function ingress(object: KubeObject, { readiness }: HealthFacts): Health {
  if (readiness.mode !== "LoadBalancer" || hasBalancer(object)) return ready("The ingress is accepted.");
  return waitingForBalancer();
}

function hasBalancer(object: KubeObject): boolean {
  return listOf(partOf(object, "status", "loadBalancer"), "ingress").length > 0;
}

function waitingForBalancer(): Health {
  return inProgress("NoLoadBalancer", "The load balancer has no address yet.");
}

/** Autoscalers of all versions. */
const autoscalingRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["autoscaling/HorizontalPodAutoscaler", autoscaler],
]);

/** Metrics of pods that have just started take a minute or two to arrive. */
const failsAfterMs = 120_000;

const problems: ReadonlySet<string> = new Set([
  "AbleToScale/FailedGetScale",
  "AbleToScale/FailedUpdateScale",
  "ScalingActive/FailedGetResourceMetric",
  "ScalingActive/InvalidSelector",
]);

function autoscaler(object: KubeObject, { stateAgeMs }: HealthFacts): Health {
  const conditions = autoscalerConditions(object);
  const problem = conditions.find(({ type, reason }) => problems.has(`${type}/${reason}`));
  if (problem !== undefined) {
    const terms = conditionText(problem, "The autoscaler cannot work.");
    return until(failsAfterMs, stateAgeMs, [
      inProgress(problem.reason, terms),
      failed(problem.reason, terms),
    ]);
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
  return readConditionsText(annotations[name] ?? "");
}

/** Anybody may write the annotation: what is no list of conditions counts as none. */
function readConditionsText(text: string): readonly ReadCondition[] {
  try {
    const value: unknown = parseJson(text);
    return Array.isArray(value) ? readConditions(value) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Kinds that change what the API server serves or accepts. */
const apiRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["apiextensions.k8s.io/CustomResourceDefinition", definition],
  ["apiregistration.k8s.io/APIService", apiService],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", webhooks],
  ["admissionregistration.k8s.io/MutatingWebhookConfiguration", webhooks],
  ["/Namespace", namespace],
]);

function definition(object: KubeObject): Health {
  const leaving = trueCondition(object, "Terminating");
  if (leaving !== undefined) return terminating(conditionText(leaving, "The definition is being deleted."));
  const isServed = ["NamesAccepted", "Established"].every(
    (type) => trueCondition(object, type) !== undefined,
  );
  if (isServed) return ready("The kind is established.");
  return refusedDefinition(object) ?? inProgress("NotEstablished", "The kind is not established yet.");
}

function refusedDefinition(object: KubeObject): Health | undefined {
  const names = conditionOf(object, "NamesAccepted");
  if (names?.status === "False")
    return failed("NamesNotAccepted", conditionText(names, "Its names are taken."));
  const established = conditionOf(object, "Established");
  if (established?.status !== "False" || established.reason === "Installing") return undefined;
  return failed("NotEstablished", conditionText(established, "The definition is not served."));
}

function apiService(object: KubeObject): Health {
  const available = conditionOf(object, "Available");
  if (available?.status === "True") return ready("The API is available.");
  if (available === undefined) return inProgress("NotAvailable", "The API has not been checked yet.");
  return inProgress(
    available.reason || "NotAvailable",
    conditionText(available, "The API is not available."),
  );
}

/** A webhook whose Service has no endpoints would refuse every write of the next stage. */
function webhooks(object: KubeObject, { hasEndpoints }: HealthFacts): Health {
  for (const webhook of listOf(object, "webhooks")) {
    const target = fieldOf(fieldOf(webhook, "clientConfig"), "service");
    const [namespaceName, name] = [textOf(target, "namespace"), textOf(target, "name")];
    const isDead =
      namespaceName !== undefined && name !== undefined && hasEndpoints?.(namespaceName, name) === false;
    if (isDead) {
      const message = `Service ${namespaceName}/${name} of the webhook has no endpoints.`;
      // No watch reports endpoints.
      return { ...inProgress("NoEndpoints", message), recheckAfterMs: 1_000 };
    }
  }
  return ready("The webhooks can be called.");
}

function namespace(object: KubeObject): Health {
  const phase = partOf(object, "status", "phase");
  if (phase === "Active") return ready("The namespace is active.");
  if (phase === "Terminating") return terminating("The namespace is being deleted.");
  return inProgress("NotActive", "The namespace is not active yet.");
}

/** Work that ends. A Job that is merely running is not ready: a stage waits for its end. */
const batchRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([["batch/Job", job]]);

function job(object: KubeObject): Health {
  if (trueCondition(object, "Complete") !== undefined) return ready("The job has completed.");
  const failure = trueCondition(object, "Failed");
  if (failure !== undefined)
    return failed(failure.reason || "JobFailed", conditionText(failure, "The job failed."));
  if (partOf(object, "spec", "suspend") === true) return suspended("The job is suspended.");
  if (partOf(object, "status", "startTime") === undefined) {
    return inProgress("NotStarted", "The job has not started.");
  }
  return inProgress("Running", "The job is running.");
}

/** Plans of ours among the objects of a plan. */
const planRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["install.quartermaster.dev/InstallPlan", installPlan],
]);

/** One that was replaced has done its part; one that is paused was stopped on purpose. */
function installPlan(object: KubeObject): Health {
  const superseded = trueCondition(object, "Superseded");
  if (superseded !== undefined) return ready(conditionText(superseded, "The plan was replaced."));
  const condition = conditionOf(object, "Ready");
  if (condition === undefined) return inProgress("NotObserved", "No operator has reported a status yet.");
  if (condition.status === "True") return ready(conditionText(condition, "The plan is installed."));
  if (condition.reason === "Paused") return suspended(conditionText(condition, "The plan is paused."));
  return inProgress(condition.reason || "NotReady", conditionText(condition, "The plan is not ready."));
}

/** The rule of a kind we know; undefined for all others, custom resources among them. */
export function kindRuleOf({ apiVersion, kind }: KubeObject): KindRule | undefined {
  return rules.get(`${groupOf(apiVersion)}/${kind}`);
}

/** They do nothing on their own, whatever conditions a client may have written on them. */
const atRest = ["/ConfigMap", "/Secret", "batch/CronJob", "policy/PodDisruptionBudget"];

const rules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ...atRest.map((kind): [string, KindRule] => [kind, () => ready("The object exists.")]),
  ...workloadRules,
  ...podRules,
  ...batchRules,
  ...networkRules,
  ...storageRules,
  ...autoscalingRules,
  ...apiRules,
  ...planRules,
]);
