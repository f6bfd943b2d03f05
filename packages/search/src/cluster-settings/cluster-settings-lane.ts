import { digestOf, printable } from "@quartermaster/runtime";

import {
  decideEntries,
  type EntryPlan,
  type EntryPolicy,
  type EntryRecord,
  isEntriesDone,
} from "../declared-entries/decide-entries.ts";
import { entriesLane } from "../declared-entries/entries-lane.ts";
import type { EngineSettings } from "../engine/engine-facts.ts";
import type { SearchLane } from "../lane.ts";
import type { SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { searchReasons } from "../reasons.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

/** Dynamic settings of the engine: set by its API, reset when they are no longer declared. Nothing restarts. */
export const clusterSettingsLane: SearchLane = entriesLane({
  lane: "clusterSettings",
  rule: "keepSettings",
  pendingReason: searchReasons.settingsPending,
  unknownMessage: "The engine has not reported its settings yet.",
  pendingMessage: () => "The engine's settings are brought to spec.general.clusterSettings.",
  isPending: needsSettings,
  plan: (seen) => {
    const { settings } = seen.engine;
    return settings.isKnown ? planSettings(seen, settings.value) : undefined;
  },
  conflict: (seen) => {
    const { settings } = seen.engine;
    const keys = settings.isKnown ? shadowedSettings(seen, settings.value) : [];
    if (keys.length === 0) return undefined;
    return {
      reason: searchReasons.settingShadowed,
      message: `Transient settings of others hide these of spec.general.clusterSettings: ${keys.slice(0, 10).join(", ")}. Reset the transient ones in the engine.`,
    };
  },
  action: ({ put, drop }) =>
    put.length + drop.length === 0 ? undefined : { kind: "keepSettings", put, drop },
  left: (name) => ({
    reason: "SettingLeft",
    action: "ResetSetting",
    note: `Setting ${name} is no longer declared, but was changed by another client: it stays.`,
  }),
});

/** Most keys that a spec may declare. */
const mostSettings = 256;

/** The spec wins: a value that was set by the API is replaced. Verified once it is in effect. */
const policy: EntryPolicy = { overwritesForeign: true, isVerified: true, mostRecords: 2 * mostSettings };

type Known = Pick<Seen, "cluster"> & { readonly status: Partial<ClusterStatus> };

/** Plan for the engine's persistent settings. Pure: decided again with live reads before anything is written. */
export function planSettings({ cluster, status }: Known, settings: EngineSettings): EntryPlan {
  const digests = digestsOf(status.clusterUuid);
  const plan = decideEntries(
    {
      wanted: digests(cluster.dynamicSettings),
      recorded: status.clusterSettings ?? [],
      present: digests(settings.persistent),
    },
    policy,
  );
  const hidden = shadowedSettings({ cluster }, settings);
  const isHidden = ({ name }: EntryRecord): boolean => hidden.includes(name);
  return { ...plan, after: plan.after.map((record) => (isHidden(record) ? withoutProof(record) : record)) };
}

function withoutProof({ verified: _verified, ...record }: EntryRecord): EntryRecord {
  return record;
}

/** Whether the engine has to be queried for its settings. */
export function needsSettings({ cluster, status }: Known): boolean {
  if (status.clusterUuid === undefined || cluster.isPaused) return false;
  const wanted = digestsOf(status.clusterUuid)(cluster.dynamicSettings);
  return !isEntriesDone({ wanted, recorded: status.clusterSettings ?? [] }, policy);
}

/** Declared settings that have no effect, because a transient one of another client has the same name. */
function shadowedSettings(
  { cluster }: Pick<Seen, "cluster">,
  { transient }: EngineSettings,
): readonly string[] {
  return Object.entries(cluster.dynamicSettings)
    .filter(([key, value]) => typeof transient[key] === "string" && transient[key] !== value)
    .map(([key]) => key)
    .toSorted();
}

function digestsOf(
  uuid: string | undefined,
): (settings: Readonly<Record<string, string | null>>) => ReadonlyMap<string, string> {
  return (settings) =>
    new Map(
      Object.entries(settings).flatMap(([key, value]) =>
        value === null ? [] : [[key, digestOf({ uuid: uuid ?? "", key, value }).slice(0, 32)]],
      ),
    );
}

/** Settings that operations write: two owners of one setting would undo each other. */
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
