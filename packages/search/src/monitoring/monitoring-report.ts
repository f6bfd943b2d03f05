import { apiVersionOf } from "@quartermaster/runtime";

import type { ClusterStatus, Seen } from "../seen.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import { monitoringKindNames, monitoringKinds } from "./monitoring-kinds.ts";
import { pendingDeployments } from "./monitoring-lane.ts";

/** What the status says of monitoring; undefined where it is off. */
export function monitoringReport(seen: Seen): ClusterStatus["monitoring"] {
  const { cluster, monitoring, status } = seen;
  const wish = cluster.monitoring;
  if (wish === undefined || status.clusterUuid === undefined) return undefined;
  const pending = new Set(pendingDeployments(seen, wish));
  const made = monitoring.present.map(({ kind, name }) => `${kind.kind} ${name}`);
  return {
    exporter: pending.has(monitoringNames(cluster).exporter) ? "Pending" : "Ready",
    stack: wish.stack.mode ?? "None",
    objects: made.toSorted(),
    absentApis: monitoringKindNames
      .filter((kind) => !monitoring.served.has(kind))
      .map((kind) => `${apiVersionOf(monitoringKinds[kind])} ${kind}`),
  };
}
