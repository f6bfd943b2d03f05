import type { EngineNode } from "../engine/engine-facts.ts";
import { isDataPool, isManagerPool, type NodePool, podNames } from "../model/search-cluster.ts";
import type { PodFacts, Seen } from "../seen.ts";
import { outdatedPods } from "./outdated-pods.ts";

/** One node: declared, or still there although it is not declared any more. */
export interface NodeFacts {
  readonly name: string;
  readonly pool: string;
  readonly ordinal: number;
  /** The spec asks for it. */
  readonly isWanted: boolean;
  /** Its StatefulSet has a place for it. */
  readonly hasPlace: boolean;
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
}

/** What node facts are made from. */
export type NodeWorld = Pick<Seen, "cluster" | "pods" | "statefulSets" | "material" | "engine">;

/** Every node of the cluster. Members are those that the engine names; while it does not answer, nobody is one. */
export function nodeFacts(world: NodeWorld): readonly NodeFacts[] {
  const { cluster, pods, statefulSets } = world;
  const outdated = new Set(outdatedPods(world));
  const members = membersOf(world);
  const names = [...new Set([...cluster.pools.map(({ name }) => name), ...statefulSets.keys()])];
  return names.flatMap((poolName) => {
    const pool = cluster.pools.find(({ name }) => name === poolName);
    const places = statefulSets.get(poolName)?.spec.replicas ?? 0;
    const wanted = pool?.replicas ?? 0;
    const own = pods.filter((pod) => pod.pool === poolName);
    const most = Math.max(places, wanted, ...own.map((pod) => ordinalOf(pod.name) + 1));
    return podNames(cluster, { name: poolName, replicas: most }).map((name, ordinal) => {
      const pod = own.find((each) => each.name === name);
      const member = members.get(name);
      return {
        name,
        pool: poolName,
        ordinal,
        isWanted: ordinal < wanted,
        hasPlace: ordinal < places,
        pod,
        isMember: member !== undefined,
        isUp: member !== undefined && pod?.isReady === true && !pod.isTerminating,
        isElected: member?.isElected === true,
        ...rolesOf(pool, member),
        isEphemeral: isEphemeral(pool, world.statefulSets.get(poolName)),
        isOutdated: outdated.has(name),
      };
    });
  });
}

/** The node of a name. */
export function nodeNamed(nodes: readonly NodeFacts[], name: string): NodeFacts | undefined {
  return nodes.find((node) => node.name === name);
}

/** Whether the engine names a node as a member. Unknown is no. */
export function isMember({ engine }: Pick<Seen, "engine">, name: string): boolean {
  return engine.nodes.isKnown && engine.nodes.value.some((node) => node.name === name);
}

function membersOf({ engine }: NodeWorld): ReadonlyMap<string, EngineNode> {
  return new Map(engine.nodes.isKnown ? engine.nodes.value.map((node) => [node.name, node]) : []);
}

function ordinalOf(name: string): number {
  const ordinal = Number(name.slice(name.lastIndexOf("-") + 1));
  return Number.isInteger(ordinal) ? ordinal : -1;
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
  return roles.filter((role) => role === "data" || role.startsWith("data_"));
}

function isEphemeral(
  pool: NodePool | undefined,
  set: { readonly spec: { readonly volumeClaimTemplates?: readonly unknown[] } } | undefined,
): boolean {
  if (pool !== undefined) return pool.storage.kind === "emptyDir";
  return (set?.spec.volumeClaimTemplates ?? []).length === 0;
}
