import { isDeepStrictEqual } from "node:util";

import type { EngineNode } from "../engine/engine-facts.ts";
import { outdatedPods } from "../facts/node-facts.ts";
import type { LaneDecision } from "../lane.ts";
import { podNames } from "../model/search-cluster.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

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
  const reported = reportedOf(seen, name);
  return name === away ? awayIdentity(reported) : reported;
}

function reportedOf(seen: Seen, name: string): Partial<NodeReport> {
  const { engine, status } = seen;
  const before = reportedBefore(status, name);
  if (!engine.nodes.isKnown || !engine.coordination.isKnown) return before ?? uidsOf(seen, name);
  const members = engine.nodes.value;
  const member = members.find((node) => node.name === name);
  const { voters, elected } = engine.coordination.value;
  // Its vote is on the disk that it had when it was a member; another one in its place has none.
  if (member === undefined && isAbsentVoter(name, { members, voters, status }))
    return { ...uidsOf(seen, name), ...reportedUids(before), member: false, voter: true, elected: false };
  return {
    ...uidsOf(seen, name),
    member: member !== undefined,
    voter: voters.includes(name),
    elected: elected === name,
    ...(member === undefined ? {} : { version: member.version }),
  };
}

interface Votes {
  readonly members: readonly EngineNode[];
  readonly voters: readonly string[];
  readonly status: Seen["status"];
}

/** Engines name a voter that is away by an id: it is one of those that voted when they were members, if there are as many ids as such nodes. */
function isAbsentVoter(name: string, { members, voters, status }: Votes): boolean {
  const names = new Set(members.map((member) => member.name));
  const absent = (status.nodes ?? []).filter((node) => node.voter === true && !names.has(node.name));
  const ids = voters.filter((voter) => !names.has(voter));
  return absent.some((node) => node.name === name) && absent.length <= ids.length;
}

function reportedUids(before: Partial<NodeReport> | undefined): Partial<NodeReport> {
  const { podUid, pvcUid } = before ?? {};
  if (pvcUid !== undefined) return { pvcUid };
  return podUid === undefined ? {} : { podUid };
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

/** The last known state; why it is outdated is reported each time. */
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

type PoolReport = NonNullable<ClusterStatus["nodePools"]>[number];

/** One row per pool, those that are no longer declared too. */
export function poolReports(seen: Seen, { away }: OperatedNode): PoolReport[] {
  const { cluster, statefulSets } = seen;
  const pods = seen.pods.filter(({ name }) => name !== away);
  const outdated = new Set(outdatedPods(seen));
  const isFormed = seen.status.clusterUuid !== undefined;
  const names = new Set([...cluster.pools.map(({ name }) => name), ...statefulSets.keys()]);
  return [...names].map((component) => {
    const own = pods.filter(({ pool }) => pool === component);
    const present = statefulSets.get(component)?.spec.replicas ?? 0;
    const desired = cluster.pools.find(({ name }) => name === component)?.replicas ?? 0;
    // Until it has formed, pods that come up one by one decide nothing and would be written with each: they are reported once all are ready.
    const isReported = isFormed || (own.length >= desired && own.every(({ isReady }) => isReady));
    return {
      component,
      desired,
      target: Math.max(desired, present),
      ...(isReported
        ? {
            ready: own.filter(({ isReady }) => isReady).length,
            current: own.filter(({ name }) => !outdated.has(name)).length,
            outdated: own.filter(({ name }) => outdated.has(name)).length,
          }
        : {}),
    };
  });
}

export interface OperatedNode {
  /** The node that we took down. It counts as away from then until the operation ends: users wait for its end, not for each sample. */
  readonly away: string | undefined;
  /** The operation is at the step that the status names already. */
  readonly isSameStep: boolean;
}

/** Reads the operation as it will be in the status. */
export function operatedNode(
  { status }: Pick<Seen, "status">,
  decisions: readonly LaneDecision[],
): OperatedNode {
  const { intent } = decisions.find(({ lane }) => lane === "nodes") ?? {};
  const operation = intent !== undefined && "operation" in intent ? intent.operation : status.operation;
  return {
    away: operation?.step === "Await" ? operation.node : undefined,
    isSameStep: operation !== undefined && isDeepStrictEqual(operation, status.operation),
  };
}

const healths: readonly string[] = ["green", "yellow", "red", "unknown"];

/** During a step a worse health is reported immediately, and a better one with the next step: copies come back one by one. */
export function healthDuring(
  { isSameStep }: OperatedNode,
  { before, now }: { readonly before: string | undefined; readonly now: string },
): string {
  if (!isSameStep || before === undefined) return now;
  return healths.indexOf(now) < healths.indexOf(before) ? before : now;
}
