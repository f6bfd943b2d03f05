import type { KubeObject } from "@quartermaster/runtime";

import { groupOf } from "../identity.ts";
import { apiRules } from "./api-rules.ts";
import { autoscalingRules } from "./autoscaling-rules.ts";
import { batchRules } from "./batch-rules.ts";
import { type KindRule, ready } from "./health.ts";
import { networkRules } from "./network-rules.ts";
import { podRules } from "./pod-rule.ts";
import { storageRules } from "./storage-rules.ts";
import { workloadRules } from "./workload-rules.ts";

/** The rule of a kind we know; undefined for all others, custom resources among them. */
export function kindRuleOf({ apiVersion, kind }: KubeObject): KindRule | undefined {
  return rules.get(`${groupOf(apiVersion)}/${kind}`);
}

/** They do nothing by themselves, whatever conditions somebody may have written on them. */
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
]);
