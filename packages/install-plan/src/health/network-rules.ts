import { type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { type Health, type HealthFacts, inProgress, type KindRule, ready } from "./health.ts";
import { partOf } from "./object-parts.ts";

/**
 * An address of a load balancer is waited for only where the plan asks: on a cluster without a balancer a stage would wait
 * for ever.
 */
export const networkRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
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
