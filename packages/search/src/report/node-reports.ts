import { podNames } from "../model/search-cluster.ts";
import { outdatedPods } from "../nodes/outdated-pods.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import type { OperatedNode } from "./operated-node.ts";

type NodeReport = NonNullable<ClusterStatus["nodes"]>[number];

/** Above this only pools are counted. */
const mostNodes = 200;

/**
 * One row per node. Who votes, and on which disk, stays as it was while the engine does not say: a lost quorum is known by comparing
 * that with what is there.
 */
export function nodeReports(seen: Seen, { away }: OperatedNode): readonly NodeReport[] & NodeReport[] {
  const { cluster } = seen;
  const outdated = new Set(outdatedPods(seen));
  const names = cluster.pools.flatMap((pool) => podNames(cluster, pool).map((name) => ({ name, pool })));
  // Until it has formed, which pod and which claim a node has decides nothing, and would be written with each that appears.
  const isFormed = seen.status.clusterUuid !== undefined;
  return names.slice(0, mostNodes).map(({ name, pool }) => ({
    ...(isFormed ? identityOf(seen, name, away) : {}),
    name,
    roles: [...pool.roles],
    ...(outdated.has(name) && name !== away
      ? { outdatedBecause: ["the declared configuration is newer than the pod"] }
      : {}),
  }));
}

function identityOf(seen: Seen, name: string, away: string | undefined): Partial<NodeReport> {
  const told = toldOf(seen, name);
  return name === away ? awayIdentity(told) : told;
}

function toldOf(seen: Seen, name: string): Partial<NodeReport> {
  const { engine, status } = seen;
  const before = reportedBefore(status, name);
  if (!engine.nodes.isKnown || !engine.coordination.isKnown) return before ?? uidsOf(seen, name);
  const member = engine.nodes.value.find((node) => node.name === name);
  return {
    ...uidsOf(seen, name),
    member: member !== undefined,
    voter: engine.coordination.value.voters.includes(name),
    elected: engine.coordination.value.elected === name,
    ...(member === undefined ? {} : { version: member.version }),
  };
}

/** Of a node that we took down: its disk, and whether it votes. Its pod comes and goes; only where that is its disk does it matter which. */
function awayIdentity({ podUid, pvcUid, voter }: Partial<NodeReport>): Partial<NodeReport> {
  return {
    ...(pvcUid === undefined ? {} : { pvcUid }),
    ...(pvcUid !== undefined || podUid === undefined ? {} : { podUid }),
    ...(voter === undefined ? {} : { voter }),
    member: false,
  };
}

/** What was known when the engine last told; why it is outdated is told anew each time. */
function reportedBefore(status: Seen["status"], name: string): Partial<NodeReport> | undefined {
  const before = status.nodes?.find((node) => node.name === name);
  if (before?.voter === undefined) return undefined;
  const { outdatedBecause: _outdated, ...rest } = before;
  return rest;
}

function uidsOf({ pods, volumes }: Seen, name: string): Pick<NodeReport, "podUid" | "pvcUid"> {
  const pod = pods.find((each) => each.name === name);
  const volume = volumes.find(({ node }) => node === name);
  return {
    ...(pod === undefined ? {} : { podUid: pod.uid }),
    ...(volume === undefined ? {} : { pvcUid: volume.uid }),
  };
}
