import type { DomainSeries, ReconcileEvent } from "@quartermaster/runtime";

/** What events of operations are called when they are counted. */
const operations = {
  RestartNode: "restart",
  RepairNode: "repair",
  RemoveNode: "remove",
  RemovePool: "remove-pool",
} as const;

/** Registers the series of operations on nodes. Returns the hook that counts their events. */
export function operationMetrics(series: DomainSeries): (event: ReconcileEvent) => void {
  const count = series.counter({
    name: "quartermaster_search_operations_total",
    help: "Nodes of search clusters that were restarted, repaired or removed, and pools that were removed",
    labels: { type: Object.values(operations) },
  });
  return ({ type, action }) => {
    const name = Object.entries(operations).find(([known]) => known === action)?.[1];
    // A warning accompanies an operation that is counted when it ends.
    if (name !== undefined && type === "Normal") count({ type: name });
  };
}
