import type { Live } from "@quartermaster/runtime";
import type { StatefulSet } from "@quartermaster/runtime/kinds";

import type { EngineNode } from "../engine/engine-facts.ts";
import { isDataPool, isManagerPool, type NodePool } from "../model/search-cluster.ts";
import type { PodFacts, Seen } from "../seen.ts";
import { acceptedInputs } from "../workload/pool-inputs-hash.ts";

/** One node: declared, or still there although it is not declared any more. */
export interface NodeFacts {
  readonly name: string;
  readonly pool: string;
  readonly ordinal: number;
  /** The spec requests it. */
  readonly isWanted: boolean;
  /** Its StatefulSet has a place for it. */
  readonly hasSlot: boolean;
  readonly pod: PodFacts | undefined;
  readonly isMember: boolean;
  /** Ready, not on its way out, and a member. */
  readonly isUp: boolean;
  readonly isElected: boolean;
  readonly isManager: boolean;
  readonly isData: boolean;
  /** Data tiers that it serves. */
  readonly tiers: readonly string[];
  /** Its data goes with its pod. */
  readonly isEphemeral: boolean;
  /** Its pod was started with other inputs than those declared now. */
  readonly isOutdated: boolean;
  /** The controller of StatefulSets has not seen the newest template: a pod that is deleted now may come back from the one before. */
  readonly isTemplateUnseen: boolean;
}

export type NodeState = Pick<
  Seen,
  "cluster" | "pods" | "statefulSets" | "material" | "engine" | "volumes" | "status"
>;

/**
 * Every node of the cluster: those that are declared, and those of which something exists. Never one for each number below another: the
 * ordinal in a pod's name and the replicas of a StatefulSet are numbers that a tenant can write. Members are those that the engine
 * names; while it does not respond, there are none.
 */
export function nodeFacts(state: NodeState): readonly NodeFacts[] {
  const { cluster, pods, statefulSets } = state;
  const outdated = new Set(outdatedPods(state));
  const members = membersOf(state);
  const names = [...new Set([...cluster.pools.map(({ name }) => name), ...statefulSets.keys()])];
  return names.flatMap((poolName) => {
    const pool = cluster.pools.find(({ name }) => name === poolName);
    const slots = statefulSets.get(poolName)?.spec.replicas ?? 0;
    const wanted = pool?.replicas ?? 0;
    const own = pods.filter((pod) => pod.pool === poolName);
    const podOf = new Map(own.map((pod) => [pod.name, pod]));
    const prefix = `${cluster.name}-${poolName}-`;
    return existingOrdinals(state, { prefix, slots, wanted, own }).map((ordinal) => {
      const name = `${prefix}${String(ordinal)}`;
      const pod = podOf.get(name);
      const member = members.get(name);
      return {
        name,
        pool: poolName,
        ordinal,
        isWanted: ordinal < wanted,
        hasSlot: ordinal < slots,
        pod,
        isMember: member !== undefined,
        isUp: member !== undefined && pod?.isReady === true && !pod.isTerminating,
        isElected: member?.isElected === true,
        ...rolesOf(pool, member),
        isEphemeral: isEphemeral(pool, state.statefulSets.get(poolName)),
        isOutdated: outdated.has(name),
        isTemplateUnseen: isUnseen(statefulSets.get(poolName)),
      };
    });
  });
}

function isUnseen(set: Live<StatefulSet> | undefined): boolean {
  const { generation = 0 } = set?.metadata ?? {};
  return (set?.status?.observedGeneration ?? generation) < generation;
}

/** The node of a name. */
export function nodeNamed(nodes: readonly NodeFacts[], name: string): NodeFacts | undefined {
  return nodes.find((node) => node.name === name);
}

/** Whether the engine names a node as a member. Unknown is no. */
export function isMember({ engine }: Pick<Seen, "engine">, name: string): boolean {
  return engine.nodes.isKnown && engine.nodes.value.some((node) => node.name === name);
}

function membersOf({ engine }: NodeState): ReadonlyMap<string, EngineNode> {
  return new Map(engine.nodes.isKnown ? engine.nodes.value.map((node) => [node.name, node]) : []);
}

interface PoolNodes {
  /** Of the names of its nodes. */
  readonly prefix: string;
  readonly slots: number;
  /** The schema bounds it. */
  readonly wanted: number;
  readonly own: readonly PodFacts[];
}

/**
 * Ordinals of a pool's nodes, ascending. Of the places that are not declared, those count that have a pod, a claim, a member or the open
 * operation, and the last one: it is the first to go, and the empty ones below it go with it.
 */
function existingOrdinals(
  { engine, volumes, status }: NodeState,
  { prefix, slots, wanted, own }: PoolNodes,
): readonly number[] {
  const names = [
    ...volumes.map(({ node }) => node),
    ...(engine.nodes.isKnown ? engine.nodes.value.map(({ name }) => name) : []),
    ...(status.operation === undefined ? [] : [status.operation.node]),
  ];
  const found = [
    ...own.flatMap(({ name }) => ordinalIn(name, prefix) ?? []),
    ...names.flatMap((name) => ordinalIn(name, prefix) ?? []).filter((ordinal) => ordinal < slots),
    ...(slots > 0 ? [slots - 1] : []),
  ];
  const declared = Array.from({ length: wanted }, (_, ordinal) => ordinal);
  return [...new Set([...declared, ...found])].toSorted((one, other) => one - other);
}

function ordinalIn(name: string, prefix: string): number | undefined {
  const text = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

/** As declared; of a pool that is not declared any more, as the engine says. What neither says may be anything. */
function rolesOf(
  pool: NodePool | undefined,
  member: EngineNode | undefined,
): Pick<NodeFacts, "isManager" | "isData" | "tiers"> {
  if (pool === undefined && member === undefined) return { isManager: true, isData: true, tiers: [] };
  const roles: readonly string[] = pool?.roles ?? member?.roles ?? [];
  return {
    isManager: isManagerPool({ roles }),
    isData: isDataPool({ roles }),
    tiers: dataTiers(roles),
  };
}

/** Data tiers among roles. */
export function dataTiers(roles: readonly string[]): readonly string[] {
  return roles.filter((role) => role.startsWith("data") || role === "search" || role === "warm");
}

function isEphemeral(
  pool: NodePool | undefined,
  set: { readonly spec: { readonly volumeClaimTemplates?: readonly unknown[] } } | undefined,
): boolean {
  if (pool !== undefined) return pool.storage.kind === "emptyDir";
  return (set?.spec.volumeClaimTemplates ?? []).length === 0;
}

/** Names of the pods that were started with other inputs than those declared now. */
export function outdatedPods({
  cluster,
  pods,
  material,
  statefulSets,
}: Pick<Seen, "cluster" | "pods" | "material" | "statefulSets">): readonly string[] {
  return cluster.pools.flatMap((pool) => {
    const set = statefulSets.get(pool.name);
    const { inputsHash: wanted } = acceptedInputs(cluster, pool, { followed: material.podInputs, set });
    return pods
      .filter(
        ({ pool: name, inputsHash }) =>
          name === pool.name && inputsHash !== undefined && inputsHash !== wanted,
      )
      .map(({ name }) => name);
  });
}
