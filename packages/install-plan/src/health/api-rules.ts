import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import {
  failed,
  type Health,
  type HealthFacts,
  inProgress,
  type KindRule,
  ready,
  terminating,
} from "./health.ts";
import { conditionOf, partOf, trueCondition, wordsOf } from "./object-parts.ts";

/** Kinds that change what the API server serves or accepts. */
export const apiRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["apiextensions.k8s.io/CustomResourceDefinition", definition],
  ["apiregistration.k8s.io/APIService", apiService],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", webhooks],
  ["admissionregistration.k8s.io/MutatingWebhookConfiguration", webhooks],
  ["/Namespace", namespace],
]);

function definition(object: KubeObject): Health {
  const leaving = trueCondition(object, "Terminating");
  if (leaving !== undefined) return terminating(wordsOf(leaving, "The definition is being deleted."));
  const isServed = ["NamesAccepted", "Established"].every(
    (type) => trueCondition(object, type) !== undefined,
  );
  if (isServed) return ready("The kind is established.");
  return refusedDefinition(object) ?? inProgress("NotEstablished", "The kind is not established yet.");
}

function refusedDefinition(object: KubeObject): Health | undefined {
  const names = conditionOf(object, "NamesAccepted");
  if (names?.status === "False") return failed("NamesNotAccepted", wordsOf(names, "Its names are taken."));
  const established = conditionOf(object, "Established");
  if (established?.status !== "False" || established.reason === "Installing") return undefined;
  return failed("NotEstablished", wordsOf(established, "The definition is not served."));
}

function apiService(object: KubeObject): Health {
  const available = conditionOf(object, "Available");
  if (available?.status === "True") return ready("The API is available.");
  if (available === undefined) return inProgress("NotAvailable", "The API has not been checked yet.");
  return inProgress(available.reason || "NotAvailable", wordsOf(available, "The API is not available."));
}

/** A webhook whose Service has no endpoints would refuse every write of the next stage. */
function webhooks(object: KubeObject, { hasEndpoints }: HealthFacts): Health {
  for (const webhook of listOf(object, "webhooks")) {
    const service = fieldOf(fieldOf(webhook, "clientConfig"), "service");
    const [namespaceName, name] = [textOf(service, "namespace"), textOf(service, "name")];
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
