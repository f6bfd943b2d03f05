import { printable } from "@quartermaster/runtime";

import type { SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { mostSettings } from "./cluster-settings-lane.ts";

/** What operations write: two owners of one setting would undo each other. */
const ours: ReadonlySet<string> = new Set([
  "cluster.routing.allocation.enable",
  "cluster.routing.allocation.exclude._name",
]);

/** Dynamic settings that cannot be declared. A name with a wildcard would reach settings of others. */
export function settingIssues({
  dynamicSettings,
}: Pick<SearchCluster, "dynamicSettings">): readonly SpecIssue[] {
  const keys = Object.keys(dynamicSettings).toSorted();
  const path = "spec.general.clusterSettings";
  return [
    ...(keys.length > mostSettings
      ? [{ path, reason: "InvalidSpec" as const, message: `has more than ${String(mostSettings)} settings` }]
      : []),
    ...keys.flatMap((key): readonly SpecIssue[] => {
      const at = `${path}.${printable(key.slice(0, 100))}`;
      if (!/^[A-Za-z][A-Za-z0-9_.-]{0,252}$/.test(key))
        return [
          {
            path: at,
            reason: "InvalidSpec",
            message: "Names of settings consist of letters, digits, dots, dashes and underscores.",
          },
        ];
      if (!ours.has(key) && !key.startsWith("cluster.metadata.quartermaster")) return [];
      return [
        {
          path: at,
          reason: "ReservedSetting",
          message: "is written by the operator while a node restarts or leaves. Remove it.",
        },
      ];
    }),
  ];
}
