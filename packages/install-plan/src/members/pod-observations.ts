import { type PodTrouble, podTroubleOf } from "@quartermaster/health";
import {
  ApiError,
  type Client,
  fieldOf,
  groupOf,
  inParallel,
  type KubeObject,
  listOf,
  textOf,
} from "@quartermaster/runtime";
import { pods } from "@quartermaster/runtime/kinds";

import type { Member } from "../model/member.ts";
import type { PlanMemory } from "../plan-memory.ts";
import type { MemberView } from "../seen.ts";

export interface PodObservation {
  /** By the monotonic clock. */
  readonly atMs: number;
  /** When the workload was first seen not ready. */
  readonly sinceMs: number;
  /** Of the workload when its pods were read. */
  readonly resourceVersion: string | undefined;
  /** Undefined when the pods say nothing, or could not be read. */
  readonly trouble?: PodTrouble | undefined;
  /** The account may not list pods: why they are not ready stays unknown until it may. */
  readonly isForbidden?: true | undefined;
}

export interface PodObservationOptions {
  readonly memory: PlanMemory;
  readonly nowMs: number;
  /** Speaks as the plan's account: which pods are read, its author decides. */
  readonly account: Client;
  /** The view of a member again, with what was found. */
  readonly view: (member: Member) => MemberView;
}

/** Workloads whose pods are looked at in one reconcile, and pods of each: enough to find out why, whatever the plan holds. */
const workloadLimit = 5;
const podLimit = 50;

/**
 * Reads the pods of workloads that are not ready, so that the plan can say why. Nothing is read for workloads that are ready, and
 * nothing is watched: see `isLookDue`. What is found changes words only, never what is done.
 */
export async function explainUnready(
  members: readonly MemberView[],
  parts: PodObservationOptions,
): Promise<readonly MemberView[]> {
  const { memory, nowMs, view } = parts;
  const unready = members.filter(isUnreadyWorkload);
  memory.keepPodObservations(new Set(unready.map(({ member }) => member.key)));
  const due = unready
    .filter(({ member, live }) => isObservationDue(memory.podObservations.get(member.key), live, nowMs))
    .slice(0, workloadLimit);
  if (due.length === 0) return members;
  await inParallel(due, workloadLimit, async (each) => await observation(each, parts));
  const looked = new Set(due.map(({ member }) => member.key));
  return members.map((each) => (looked.has(each.member.key) ? view(each.member) : each));
}

const workloads: ReadonlySet<string> = new Set([
  "apps/Deployment",
  "apps/StatefulSet",
  "apps/DaemonSet",
  "apps/ReplicaSet",
  "batch/Job",
]);

function isUnreadyWorkload({ member, ownership, health }: MemberView): boolean {
  const { apiVersion, kind } = member.identity;
  const isOpen = health?.state === "InProgress" || health?.state === "Failed";
  return ownership.kind === "owned" && isOpen && workloads.has(`${groupOf(apiVersion)}/${kind}`);
}

const shortestMs = 1_000;
const longestMs = 60_000;
/** A report of kubelet is in the status after a tenth more of the time that it took. */
const share = 10;
/** By then the pods have reported; a change of the workload itself still leads to another read. */
const lookingMs = 10 * 60_000;

/**
 * Whether to read the pods of a workload now: at first and when the workload has changed, at most once a second; otherwise less
 * and less often, because a pod's trouble may not show in its workload, and after ten minutes no more.
 */
export function isObservationDue(
  last: PodObservation | undefined,
  live: KubeObject | undefined,
  nowMs: number,
): boolean {
  if (last === undefined) return true;
  return nowMs - last.atMs >= (nextObservationMs(last, live) ?? Number.POSITIVE_INFINITY);
}

/** Milliseconds until the next read; undefined when only a change of the workload leads to one. */
export function observationDueInMs(
  last: PodObservation,
  live: KubeObject | undefined,
  nowMs: number,
): number | undefined {
  const afterMs = nextObservationMs(last, live);
  return afterMs === undefined ? undefined : Math.max(1, last.atMs + afterMs - nowMs);
}

/** Most workloads are ready soon; for those that are not, the permission would help. */
export function isWorthADryRun({ isForbidden, atMs, sinceMs }: PodObservation): boolean {
  return isForbidden === true && atMs - sinceMs >= 10_000;
}

export const mayNotListPods = "To see why, let the service account list pods.";

/** How long after a read the next one is due; undefined when only a change of the workload leads to one. */
export function nextObservationMs(last: PodObservation, live: KubeObject | undefined): number | undefined {
  if (live?.metadata.resourceVersion !== last.resourceVersion) return shortestMs;
  const elapsedMs = last.atMs - last.sinceMs;
  return elapsedMs >= lookingMs ? undefined : Math.min(longestMs, Math.max(shortestMs, elapsedMs / share));
}

async function observation({ member, live }: MemberView, parts: PodObservationOptions): Promise<void> {
  const { podObservations } = parts.memory;
  podObservations.set(member.key, await observePods(podObservations.get(member.key), live, parts));
}

/** Reads the pods of a workload as the plan's account: what keeps them from being ready. */
export async function observePods(
  last: PodObservation | undefined,
  live: KubeObject | undefined,
  { nowMs, account }: Pick<PodObservationOptions, "nowMs" | "account">,
): Promise<PodObservation> {
  const found = live === undefined ? [] : await podsOf(live, account);
  const trouble = found === "forbidden" ? undefined : podTroubleOf(found);
  return {
    atMs: nowMs,
    sinceMs: last?.sinceMs ?? nowMs,
    resourceVersion: live?.metadata.resourceVersion,
    trouble,
    ...(found === "forbidden" ? { isForbidden: true } : {}),
  };
}

/** None where the server does not respond: then the workload's own message is used. */
async function podsOf(live: KubeObject, account: Client): Promise<readonly KubeObject[] | "forbidden"> {
  const labelSelector = selectorOf(live);
  const { namespace } = live.metadata;
  if (labelSelector === undefined || namespace === undefined) return [];
  try {
    const { items } = await account.listPage(pods, { namespace, labelSelector, pageSize: podLimit });
    return items.filter((pod) => isPodOf(pod, live));
  } catch (error) {
    if (!(error instanceof ApiError) || error.class === "aborted") throw error;
    return error.class === "forbidden" ? "forbidden" : [];
  }
}

/** The selector as a query; undefined where it would select every pod, or says what we do not know. */
export function selectorOf(workload: KubeObject): string | undefined {
  const selector = fieldOf(fieldOf(workload, "spec"), "selector");
  const labels = Object.entries(fieldOf(selector, "matchLabels") ?? {}).map(
    ([key, value]) => `${key}=${String(value)}`,
  );
  const expressions = listOf(selector, "matchExpressions").map(describeExpression);
  const terms = [...labels, ...expressions];
  return terms.length === 0 || terms.includes(undefined) ? undefined : terms.join(",");
}

function describeExpression(expression: unknown): string | undefined {
  const key = textOf(expression, "key") ?? "";
  const values = listOf(expression, "values").join(",");
  switch (textOf(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case undefined:
    default:
      return undefined;
  }
}

/** Another client's pods may have the labels. Those of a Deployment belong to its ReplicaSets, which are named after it. */
function isPodOf(pod: KubeObject, { kind, metadata }: KubeObject): boolean {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (kind !== "Deployment") return owner?.uid === metadata.uid;
  return owner?.kind === "ReplicaSet" && owner.name.startsWith(`${metadata.name}-`);
}
