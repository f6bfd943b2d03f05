import type { EngineSettings } from "../engine/engine-facts.ts";

/** Which shards the engine may place; `all` where no one set it. */
const enableKey = "cluster.routing.allocation.enable";
/** Names of nodes that hold no shards. */
const excludeKey = "cluster.routing.allocation.exclude._name";

/**
 * Keys of our own settings, written together with them: engines keep free text under `cluster.metadata`. It is the proof by which
 * they are removed again even if the cluster's status was lost.
 */
const operationKeys = {
  /** Id of the operation that froze allocation. */
  frozenBy: "cluster.metadata.quartermaster_frozen_by",
  /** The earlier value of `enable`, as `persistent:all`; absent where it was not set. */
  enableBefore: "cluster.metadata.quartermaster_enable_before",
  /** The node that we excluded. */
  excluded: "cluster.metadata.quartermaster_excluded",
} as const;

/** Allocation in the engine's settings, and how operations change it. Pure: each takes the settings as they are now. */
export const allocation = {
  excludedNodes,
  isFrozenBy,
  restrictedByOthers,
  holdsOurs,
  freeze,
  exclude,
  release,
};

type Layer = keyof EngineSettings;
type Changes = Readonly<Record<Layer, Readonly<Record<string, string | null>>>>;

/** A setting as it is effective: transient ones shadow persistent ones. */
function effective(settings: EngineSettings, key: string): string | undefined {
  return settings.transient[key] ?? settings.persistent[key] ?? undefined;
}

function layerOf(settings: EngineSettings, key: string): Layer {
  return typeof settings.transient[key] === "string" ? "transient" : "persistent";
}

function changes(layer: Layer, values: Readonly<Record<string, string | null>>): Changes {
  return layer === "transient"
    ? { persistent: {}, transient: values }
    : { persistent: values, transient: {} };
}

function joined(...all: readonly Changes[]): Changes {
  return {
    persistent: Object.fromEntries(all.flatMap(({ persistent }) => Object.entries(persistent))),
    transient: Object.fromEntries(all.flatMap(({ transient }) => Object.entries(transient))),
  };
}

/** Names in the list that excludes nodes. */
function excludedNodes(settings: EngineSettings): readonly string[] {
  return listIn(effective(settings, excludeKey));
}

function listIn(text: string | null | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}

/** Whether replicas are kept from being placed by this operation. */
function isFrozenBy(settings: EngineSettings, operation: string): boolean {
  return (
    settings.persistent[operationKeys.frozenBy] === operation &&
    effective(settings, enableKey) === "primaries"
  );
}

/** Who else restricts the placing of shards: the value of the setting, undefined where no one does. */
function restrictedByOthers(settings: EngineSettings): string | undefined {
  const value = effective(settings, enableKey) ?? "all";
  const isOurs = typeof settings.persistent[operationKeys.frozenBy] === "string" && value === "primaries";
  return value === "all" || isOurs ? undefined : value;
}

/** Whether something of ours is in the settings. */
function holdsOurs(settings: EngineSettings): boolean {
  return Object.values(operationKeys).some((key) => typeof settings.persistent[key] === "string");
}

/** The node that we excluded, if any. */
function excludedByUs(settings: EngineSettings): string | undefined {
  return settings.persistent[operationKeys.excluded] ?? undefined;
}

/** Keeps replicas where they are while a node restarts. Written where it is effective; what was there before is remembered. */
function freeze(settings: EngineSettings, operation: string): Changes {
  const layer = layerOf(settings, enableKey);
  const before = settings[layer][enableKey];
  const isFirst = typeof settings.persistent[operationKeys.frozenBy] !== "string";
  return joined(
    changes(layer, { [enableKey]: "primaries" }),
    changes("persistent", {
      [operationKeys.frozenBy]: operation,
      ...(isFirst && typeof before === "string"
        ? { [operationKeys.enableBefore]: `${layer}:${before}` }
        : {}),
    }),
  );
}

/** Moves shards away from a node. Entries of others stay; one that is theirs already is not made ours. */
function exclude(settings: EngineSettings, node: string): Changes | undefined {
  const names = excludedNodes(settings);
  if (names.includes(node)) return undefined;
  return joined(
    changes(layerOf(settings, excludeKey), { [excludeKey]: [...names, node].join(",") }),
    changes("persistent", { [operationKeys.excluded]: node }),
  );
}

/** Takes all of ours out of the settings and brings back what was there; undefined where nothing is ours. */
function release(settings: EngineSettings): Changes | undefined {
  if (!holdsOurs(settings)) return undefined;
  return joined(
    unfrozen(settings),
    included(settings),
    changes("persistent", Object.fromEntries(presentSettings(settings).map((key) => [key, null]))),
  );
}

function presentSettings({ persistent }: EngineSettings): readonly string[] {
  return Object.values(operationKeys).filter((key) => typeof persistent[key] === "string");
}

const nothing: Changes = { persistent: {}, transient: {} };

/** In both layers: a transient value of another client may have shadowed ours, and was frozen too. */
function unfrozen(settings: EngineSettings): Changes {
  const { persistent } = settings;
  if (typeof persistent[operationKeys.frozenBy] !== "string") return nothing;
  const [, before = "", value = ""] =
    /^(persistent|transient):(.*)$/.exec(persistent[operationKeys.enableBefore] ?? "") ?? [];
  const restored = (layer: Layer): Changes =>
    settings[layer][enableKey] === "primaries"
      ? changes(layer, { [enableKey]: layer === before ? value : null })
      : nothing;
  return joined(restored("persistent"), restored("transient"));
}

/** Out of both layers: a transient list may have appeared after ours was written. */
function included(settings: EngineSettings): Changes {
  const node = excludedByUs(settings);
  if (node === undefined) return nothing;
  const without = (layer: Layer): Changes => {
    const names = listIn(settings[layer][excludeKey]);
    if (!names.includes(node)) return nothing;
    const rest = names.filter((name) => name !== node);
    return changes(layer, { [excludeKey]: rest.length === 0 ? null : rest.join(",") });
  };
  return joined(without("persistent"), without("transient"));
}
