import { isDeepStrictEqual } from "node:util";

import { settled, stalled, waiting } from "@quartermaster/runtime";

import type { LaneAnswer, LaneRule, SearchLane } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { isSettingsAsked, planSettings, shadowedSettings } from "./plan-settings.ts";

/** Time for the record to be written and read back; and for the engine to be asked what a write came to. */
const [nextPassMs, nextSampleMs] = [20, 1_000];

const asDeclared: LaneRule = {
  name: "asDeclared",
  answer: (seen) => (isSettingsAsked(seen) ? undefined : { actions: [], outcome: settled() }),
};

/** A failed or missing read means that nothing is done. */
const awaitRead: LaneRule = {
  name: "awaitRead",
  answer: ({ engine: { settings } }) =>
    settings.isKnown
      ? undefined
      : {
          actions: [],
          outcome: waiting(
            { reason: searchReasons.settingsPending, message: "The engine has not told its settings yet." },
            30_000,
          ),
          actor: "engine",
        },
};

const keepSettings: LaneRule = {
  name: "keepSettings",
  answer: (seen) => {
    const { settings } = seen.engine;
    if (!settings.isKnown) return undefined;
    const { put, drop, left, before, after } = planSettings(seen, settings.value);
    const hasActs = put.length + drop.length > 0;
    const isMoving = hasActs || !isDeepStrictEqual(seen.status.clusterSettings ?? [], after);
    const actions: readonly SearchAction[] = [
      ...(hasActs ? [{ kind: "keepSettings" as const, put, drop }] : []),
      ...left.map(stays),
    ];
    return {
      actions,
      intent: { clusterSettings: [...after] },
      intentIfFailed: { clusterSettings: [...before] },
      ...(isMoving ? moving(hasActs) : shadowed(seen)),
    };
  },
};

function moving(hasActs: boolean): Pick<LaneAnswer, "outcome" | "actor"> {
  return {
    outcome: waiting(
      {
        reason: searchReasons.settingsPending,
        message: "The engine's settings are brought to spec.general.clusterSettings.",
      },
      hasActs ? nextSampleMs : nextPassMs,
    ),
    actor: "operator",
  };
}

function shadowed(seen: Seen): Pick<LaneAnswer, "outcome" | "actor"> {
  const { settings } = seen.engine;
  const keys = settings.isKnown ? shadowedSettings(seen, settings.value) : [];
  if (keys.length === 0) return { outcome: settled() };
  return {
    outcome: stalled(
      {
        reason: searchReasons.settingShadowed,
        message: `Transient settings of others hide these of spec.general.clusterSettings: ${keys.slice(0, 10).join(", ")}. Reset the transient ones in the engine.`,
      },
      60_000,
    ),
    actor: "user",
  };
}

function stays(name: string): SearchAction {
  return {
    kind: "record",
    event: {
      type: "Warning",
      reason: "SettingLeft",
      action: "ResetSetting",
      note: `Setting ${name} is no longer declared, but was changed by somebody else: it stays.`,
    },
  };
}

/** Dynamic settings of the engine: set by its API, reset when they are no longer declared. Nothing restarts. */
export const clusterSettingsLane: SearchLane = {
  name: "clusterSettings",
  rules: [asDeclared, awaitRead, keepSettings],
};
