import type { EngineSettings } from "../../src/engine/engine-facts.ts";
import { allocation } from "../../src/facts/allocation.ts";
import type { Operation } from "../../src/operation/operation.ts";

/** A pod of the model: one life of a node. */
export interface ModelPod {
  readonly uid: number;
  /** Version of the configuration that it was started with. */
  readonly config: number;
  readonly state: "up" | "starting" | "terminating";
}

export interface Workload {
  readonly slots: number;
  readonly pods: Readonly<Record<string, ModelPod>>;
}

export interface Engine {
  readonly voters: readonly string[];
  readonly exclusions: readonly string[];
  /** Nodes whose disk has a copy, by shard. */
  readonly holders: readonly (readonly string[])[];
  readonly settings: EngineSettings;
}

/**
 * A small world: one pool whose nodes are managers and hold data, its StatefulSet and pods, the engine with votes, shards and settings,
 * and the operator's record. What the operator decides with is a copy that may be old.
 */
export interface Model {
  readonly spec: {
    readonly config: number;
    readonly nodes: number;
    /** Paused, or no longer to be understood. */
    readonly isHeld: boolean;
  };
  readonly live: Workload;
  readonly engine: Engine;
  readonly operation: Operation | undefined;
  /** What the operator's store and sample say. */
  readonly store: Workload;
  readonly sample: Engine & { readonly members: readonly string[] };
  /** A sample was taken since the node was first seen empty. */
  readonly isLater: boolean;
  /** The engine answers no one. */
  readonly isSilent: boolean;
  /** Claims that were deleted. */
  readonly deletedClaims: readonly string[];
  /** The disks of nodes go with their pods. */
  readonly isEphemeral: boolean;
  /** Disturbances that may still come. */
  readonly left: number;
  readonly uids: number;
}

/** Copies that each shard should have. */
export const copiesWanted = 2;

/** Name of the node with an ordinal. */
export function nodeName(ordinal: number): string {
  return `logs-nodes-${String(ordinal)}`;
}

/** An entry of another client in the list of excluded nodes: it stays, whatever we do. */
export const theirExclusion = "rack-9";

/** All is well, as many nodes as said, two shards. */
export function firstModel(nodes: number, left: number, isEphemeral = false): Model {
  const names = Array.from({ length: nodes }, (_, ordinal) => nodeName(ordinal));
  const live: Workload = {
    slots: nodes,
    pods: Object.fromEntries(names.map((each, at) => [each, { uid: at, config: 0, state: "up" } as const])),
  };
  const holders = [
    [0, 1],
    [nodes - 1, 0],
  ].map((shard) => [...new Set(shard.map((at) => nodeName(at % nodes)))]);
  const engine: Engine = {
    voters: names.slice(0, nodes - (nodes % 2 === 0 ? 1 : 0)),
    exclusions: [],
    holders,
    settings: { persistent: { "cluster.routing.allocation.exclude._name": theirExclusion }, transient: {} },
  };
  return {
    spec: { config: 0, nodes, isHeld: false },
    live,
    engine,
    operation: undefined,
    store: live,
    sample: { ...engine, members: names },
    isLater: false,
    isSilent: false,
    deletedClaims: [],
    isEphemeral,
    left,
    uids: nodes,
  };
}

/** Whether nothing is left to do, and nothing of ours is left in the engine. */
export function isAtRest({ spec, live, engine, operation }: Model): boolean {
  const isCurrent = Object.values(live.pods).every(
    ({ config, state }) => state === "up" && config === spec.config,
  );
  // Fewer nodes than copies: that removal is refused for good, at whatever size the pool is.
  const isSized = live.slots === spec.nodes || spec.nodes < copiesWanted;
  return (
    operation === undefined &&
    isCurrent &&
    isSized &&
    Object.keys(live.pods).length === live.slots &&
    engine.exclusions.length === 0 &&
    !allocation.holdsOurs(engine.settings)
  );
}

/** Whether nothing of ours is left in the engine, and no node is away by our hand. */
export function isReleased({ live, engine, operation }: Model): boolean {
  return (
    (operation === undefined || operation.step === "Release") &&
    Object.values(live.pods).every(({ state }) => state === "up") &&
    engine.exclusions.length === 0 &&
    !allocation.holdsOurs(engine.settings)
  );
}
