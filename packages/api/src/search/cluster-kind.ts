import type { CelRule, PrinterColumn } from "@quartermaster/runtime/schema";

const ready = ".status.conditions[?(@.type=='Ready')]";

/** Columns of `kubectl get`: those that users of other operators know, and ours. */
const columns: readonly PrinterColumn[] = [
  { name: "Health", type: "string", jsonPath: ".status.health" },
  { name: "Nodes", type: "integer", jsonPath: ".status.availableNodes" },
  { name: "Version", type: "string", jsonPath: ".status.version" },
  { name: "Phase", type: "string", jsonPath: ".status.phase" },
  { name: "Ready", type: "string", jsonPath: `${ready}.status` },
  { name: "Reason", type: "string", jsonPath: `${ready}.reason` },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Uuid", type: "string", jsonPath: ".status.clusterUuid", priority: 1 },
  { name: "Message", type: "string", jsonPath: `${ready}.message`, priority: 1 },
];

/** Names of pods are labels, and the StatefulSet adds a hash of ten characters to them. */
const longestPoolName = 52;

/** Over the name of a cluster and its pools. */
const rules: readonly CelRule[] = [
  {
    rule: `self.spec.nodePools.all(pool, size(self.metadata.name) + 1 + size(pool.component) <= ${String(longestPoolName)})`,
    message: `the name of the cluster, a dash and the component of a pool have at most ${String(longestPoolName)} characters together`,
    fieldPath: ".spec.nodePools",
  },
];

/** What the kinds of search clusters have in common. */
export const clusterKind = { categories: ["quartermaster"], scope: "Namespaced", columns, rules } as const;
