import type { NodeLoad } from "../engine/engine-facts.ts";
import { allocation } from "../facts/allocation.ts";
import { autoExpanded, type DisruptionState, shardName } from "../facts/disruption-state.ts";
import type { NodeFacts } from "../facts/node-facts.ts";
import { unknownFacts } from "../operation/refusals.ts";
import type { Seen } from "../seen.ts";

/** Whether the rest of the cluster can do without a node. */
export type Precheck =
  | { readonly kind: "passed" }
  /** Something is not known yet. */
  | { readonly kind: "unknown"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

/** Engines move no shard to a node above the low watermark, 85 % by default; some room stays. */
const fullestShare = 0.95 * 0.85;

/**
 * Simulates the removal before anything is excluded: a drain that cannot end would leave the node excluded for ever. Facts that only data
 * nodes need are not required of others.
 */
export function removalPrecheck(
  node: NodeFacts,
  { seen, state }: { readonly seen: Pick<Seen, "engine" | "cluster">; readonly state: DisruptionState },
): Precheck {
  const unknown = unknownFacts(seen.engine, factNames);
  if (unknown !== undefined) return { kind: "unknown", message: unknown.message };
  const refusal =
    managersLeft(node, state) ??
    (node.isData ? (roomForCopies(node, { seen, state }) ?? roomOnDisk(node, { seen, state })) : undefined) ??
    (node.isData ? openForMoves(seen) : undefined);
  return refusal === undefined ? { kind: "passed" } : { kind: "refused", message: refusal };
}

/** Whether the shards of a data node have room on the others. */
export function canDrain(node: NodeFacts, sample: Observation): boolean {
  if (!node.isData || unknownFacts(sample.seen.engine, factNames) !== undefined) return false;
  return roomForCopies(node, sample) === undefined && roomOnDisk(node, sample) === undefined;
}

const factNames = ["health", "nodes", "coordination", "shards", "settings", "nodeLoad", "indices"] as const;

function managersLeft(node: NodeFacts, { nodes }: DisruptionState): string | undefined {
  if (!node.isManager) return undefined;
  const left = nodes.filter((other) => other.isManager && other.isWanted && other.isUp);
  return left.length > 0 ? undefined : "no manager that stays is up";
}

interface Observation {
  readonly seen: Pick<Seen, "engine">;
  readonly state: DisruptionState;
}

/** Data nodes that stay and serve a tier of the node that goes. */
function heirsOf(node: NodeFacts, { nodes }: DisruptionState): readonly NodeFacts[] {
  return nodes.filter(
    (other) =>
      other.name !== node.name &&
      other.isData &&
      other.isWanted &&
      (node.tiers.length === 0 ||
        other.tiers.length === 0 ||
        other.tiers.some((tier) => node.tiers.includes(tier))),
  );
}

/** No node holds two copies of a shard, so there must be as many nodes as copies. */
function roomForCopies(node: NodeFacts, { seen, state }: Observation): string | undefined {
  const { indices } = seen.engine;
  const fitted = autoExpanded(indices.isKnown ? indices.value : []);
  const left = heirsOf(node, state).length;
  const crowded = state.copies.filter(
    ({ index, count, heldBy }) => heldBy.has(node.name) && !fitted.has(index) && count > left,
  );
  const homeless =
    left === 0 ? state.copies.filter(({ heldBy, index }) => heldBy.has(node.name) && fitted.has(index)) : [];
  const [worst] = [...crowded, ...homeless];
  if (worst === undefined) return undefined;
  return `${shardName(worst)} has ${String(worst.count)} copies, and ${String(left)} data nodes would be left: lower its replicas, or keep the node`;
}

function roomOnDisk(node: NodeFacts, { seen, state }: Observation): string | undefined {
  const { nodeLoad } = seen.engine;
  if (!nodeLoad.isKnown) return undefined;
  const loadOf = (name: string): NodeLoad | undefined => nodeLoad.value.find((load) => load.node === name);
  const own = loadOf(node.name);
  if (own === undefined) return undefined;
  const rest = heirsOf(node, state).flatMap(({ name }) => loadOf(name) ?? []);
  if (own.shards === 0) return undefined;
  const disks = rest.map(diskOf);
  if (disks.some(({ isKnown }) => !isKnown)) return "other data nodes do not report the size of their disks";
  const total = disks.reduce((sum, { totalBytes }) => sum + totalBytes, 0);
  const used = disks.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  if (used + own.storeBytes <= fullestShare * total) return undefined;
  return `the disks of the other data nodes would be more than ${String(Math.round(fullestShare * 100))} % full`;
}

function diskOf({ diskTotalBytes, diskFreeBytes }: NodeLoad): {
  readonly isKnown: boolean;
  readonly totalBytes: number;
  readonly usedBytes: number;
} {
  if (diskTotalBytes === undefined || diskFreeBytes === undefined)
    return { isKnown: false, totalBytes: 0, usedBytes: 0 };
  const usedBytes = Math.max(0, diskTotalBytes - diskFreeBytes);
  return { isKnown: true, totalBytes: diskTotalBytes, usedBytes };
}

function openForMoves({ engine: { settings } }: Pick<Seen, "engine">): string | undefined {
  const value = settings.isKnown ? allocation.restrictedByOthers(settings.value) : undefined;
  return value === undefined
    ? undefined
    : `another client has set cluster.routing.allocation.enable to ${value}, so no shard can move: reset it`;
}
