import type { JsonObject } from "@quartermaster/runtime";

/** The operator, as a peer of a NetworkPolicy. By namespace and label: a label alone is anybody's to set. */
export function operatorPods(namespace: string): JsonObject {
  return {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": "quartermaster-operator" } },
  };
}
