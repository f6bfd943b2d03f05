import type { EngineFacts, Fact } from "../engine/engine-facts.ts";
import { allocation } from "../facts/allocation.ts";
import { type DisruptionState, listShards, unsettledBecause, upBesides } from "../facts/disruption-state.ts";
import type { NodeFacts } from "../facts/node-facts.ts";
import { quorumWithout } from "../facts/quorum-after.ts";

export interface Refusal {
  readonly check: CheckName;
  /** For the user: names the object to check. */
  readonly message: string;
}

/** Everything that may speak against taking a node away. */
export type CheckName =
  | "factsKnown"
  | "nobodyElseDown"
  | "quorumSurvives"
  | "copiesElsewhere"
  | "ephemeralOnlyCopy"
  | "settled"
  | "allocationOpen"
  | "electedLast"
  | "templateSeen";

/** Checks that an author may skip by the annotation `skip-check`. */
const skippable: ReadonlySet<CheckName> = new Set<CheckName>(["settled"]);

/** Facts without which no node is taken away. */
const needed = ["health", "nodes", "coordination", "shards", "settings"] as const;

/** The facts that are missing, as a refusal. */
export function unknownFacts(
  engine: EngineFacts,
  names: readonly Exclude<keyof EngineFacts, "identities" | "served">[] = needed,
): Refusal | undefined {
  const unknown = names.flatMap((name) => {
    const fact: Fact<unknown> = engine[name];
    return fact.isKnown ? [] : [`${name} (${fact.why})`];
  });
  if (unknown.length === 0) return undefined;
  return { check: "factsKnown", message: `The engine has not reported: ${unknown.join(", ")}` };
}

/**
 * Reasons against restarting a node; empty where there are none. Each check states the accident that it prevents. A node that is no
 * member takes nothing away: of it only the others and its own data matter.
 */
export function restartRefusals(
  node: NodeFacts,
  state: DisruptionState,
  { drains = false }: { readonly drains?: boolean | undefined } = {},
): readonly Refusal[] {
  const unknown = unknownFacts(state.engine);
  if (unknown !== undefined) return [unknown];
  // A node that is emptied first has no shards when it is removed.
  const aboutShards = drains ? [] : [copiesElsewhere, ephemeralOnlyCopy, settled];
  const checks = node.isMember
    ? [noOtherDown, quorumSurvives, ...aboutShards, allocationOpen, electedLast, templateSeen]
    : [noOtherDown, ephemeralOnlyCopy, templateSeen];
  return checks
    .flatMap((check) => check(node, state) ?? [])
    .filter(({ check }) => !(skippable.has(check) && state.skipped.has(check)));
}

export function removalRefusals(node: NodeFacts, state: DisruptionState): readonly Refusal[] {
  const unknown = unknownFacts(state.engine, [...needed, "nodeLoad"]);
  if (unknown !== undefined) return [unknown];
  // Another node that goes as well and was never started keeps no one.
  const nodes = state.nodes.filter(({ isWanted, pod }) => isWanted || pod?.isPending === false);
  // A node that was killed while it was emptied comes back without shards: copies of its own are still being made elsewhere.
  const checks = [noOtherDown, quorumSurvives, ...(node.isData ? [settled] : [])];
  return checks
    .flatMap((check) => check(node, { ...state, nodes }) ?? [])
    .filter(({ check }) => !(skippable.has(check) && state.skipped.has(check)));
}

/** A pod that comes back from the template before is outdated again: its node would restart twice. */
function templateSeen({ name, pool, isTemplateUnseen }: NodeFacts): Refusal | undefined {
  if (!isTemplateUnseen) return undefined;
  return {
    check: "templateSeen",
    message: `The StatefulSet of pool ${pool} is not processed yet: ${name} waits`,
  };
}

/** Two nodes down together: a shard with one replica would be away, or the quorum lost. */
function noOtherDown({ name }: NodeFacts, { nodes }: DisruptionState): Refusal | undefined {
  const down = nodes.filter(
    (node) => node.name !== name && (node.isWanted || node.hasSlot || node.pod !== undefined) && !node.isUp,
  );
  if (down.length === 0) return undefined;
  const names = down.slice(0, 5).map((node) => node.name);
  return {
    check: "nobodyElseDown",
    message: `${names.join(", ")} ${down.length === 1 ? "is" : "are"} not up`,
  };
}

/** A cluster without a majority of its voters has no manager and serves no one. */
function quorumSurvives(node: NodeFacts, state: DisruptionState): Refusal | undefined {
  const { coordination } = state.engine;
  if (!coordination.isKnown) return undefined;
  if (quorumWithout(node, state) !== "lost") return undefined;
  return {
    check: "quorumSurvives",
    message: `Without ${node.name} too few of the voting managers are up (${coordination.value.voters.join(", ")})`,
  };
}

/** Data that is replicated must not go away while the node is down. On the only data node nothing is, whatever indices request. */
function copiesElsewhere(node: NodeFacts, { copies, nodes }: DisruptionState): Refusal | undefined {
  if (!nodes.some(({ name, isData, isUp }) => isData && isUp && name !== node.name)) return undefined;
  const up = upBesides(node, nodes);
  const alone = copies.filter(
    ({ heldBy, startedOn, count }) =>
      count > 1 && heldBy.has(node.name) && !some(startedOn, (name) => up.has(name)),
  );
  if (alone.length === 0) return undefined;
  return {
    check: "copiesElsewhere",
    message: `No other node has a started copy of ${listShards(alone)}`,
  };
}

export function ephemeralOnlyCopy(
  node: NodeFacts,
  { copies, nodes }: Pick<DisruptionState, "copies" | "nodes">,
): Refusal | undefined {
  if (!node.isEphemeral || !node.isData) return undefined;
  const up = upBesides(node, nodes);
  const only = copies.filter(
    ({ startedOn, heldBy, unassigned, count }) =>
      (heldBy.has(node.name) || unassigned === count) && !some(startedOn, (name) => up.has(name)),
  );
  if (only.length === 0) return undefined;
  return {
    check: "ephemeralOnlyCopy",
    message: `${node.name} keeps its data in an emptyDir and may have the only copy of ${listShards(only)}: add a replica, or set general.drainDataNodes`,
  };
}

/** A restart on top of a recovery takes away copies that are just being made. */
function settled(_node: NodeFacts, state: DisruptionState): Refusal | undefined {
  const reason = unsettledBecause(state);
  return reason === undefined ? undefined : { check: "settled", message: reason };
}

/** Replicas would not come back afterwards. */
function allocationOpen(_node: NodeFacts, { engine }: DisruptionState): Refusal | undefined {
  if (!engine.settings.isKnown) return undefined;
  const value = allocation.restrictedByOthers(engine.settings.value);
  if (value === undefined) return undefined;
  return {
    check: "allocationOpen",
    message: `Another client has set cluster.routing.allocation.enable to ${value}: reset it`,
  };
}

/** Each restart of the elected manager is an election; the last one is enough. */
function electedLast(node: NodeFacts, { nodes }: DisruptionState): Refusal | undefined {
  if (!node.isElected) return undefined;
  const others = nodes.filter((other) => other.name !== node.name && other.isOutdated && other.hasSlot);
  if (others.length === 0) return undefined;
  return { check: "electedLast", message: `${node.name} is the elected manager and restarts last` };
}

function some(names: ReadonlySet<string>, holds: (name: string) => boolean): boolean {
  return [...names].some(holds);
}

export function refusalText(refusals: readonly Refusal[]): string {
  return refusals.map(({ check, message }) => `${check}: ${message}`).join("; ");
}

/** Whether something is only not known yet, which passes on its own. */
export function isUnknown(refusals: readonly Refusal[]): boolean {
  const checks = new Set(refusals.map(({ check }) => check));
  return checks.has("factsKnown") || (checks.size === 1 && checks.has("templateSeen"));
}
