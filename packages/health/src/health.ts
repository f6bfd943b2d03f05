import type { KubeObject } from "@quartermaster/runtime";

import type { PodTrouble } from "./pod-trouble.ts";

/** Health by an object's own status. Missing, Unknown, Drifted and Conflict are seen from outside and decided elsewhere. */
export type HealthState = "Ready" | "Suspended" | "InProgress" | "Failed" | "Terminating";

/** How an object fares, and why. */
export interface Health {
  readonly state: HealthState;
  /** One CamelCase word. */
  readonly reason: string;
  /** One sentence of at most 256 characters; the same as long as nothing changes. */
  readonly message: string;
  /** Set when the passing of time alone will change the verdict: check again after this many milliseconds. */
  readonly recheckAfterMs?: number | undefined;
}

/** By what an object counts as ready. */
export interface Readiness {
  /** `Ignore` never waits; `LoadBalancer` also wants an address; `Checks` wants every check to hold. */
  readonly mode: "Default" | "Ignore" | "LoadBalancer" | "Checks";
  readonly checks?: readonly ReadinessCheck[] | undefined;
}

/** One check, with exactly one of its parts. */
export interface ReadinessCheck {
  readonly condition?: { readonly type: string; readonly status: "True" | "False" | "Unknown" } | undefined;
  /** JSON pointers to two fields. */
  readonly fieldsEqual?: { readonly a: string; readonly b: string } | undefined;
  readonly fieldEquals?: { readonly path: string; readonly value: string } | undefined;
  readonly cel?: { readonly expression: string } | undefined;
}

/** Facts for a verdict besides the object. Left out facts are taken as "nothing known against it". */
export interface HealthFacts {
  readonly readiness: Readiness;
  /** How long the object has been seen in its present generation, by the monotonic clock; server times are never compared. */
  readonly stateAgeMs: number;
  /** Whether the CRD of a custom resource declares a status subresource. */
  readonly hasStatusSubresource?: boolean | undefined;
  /** Whether claims of this storage class (undefined: the default one) are bound only once a pod uses them. */
  readonly isWaitForFirstConsumer?: (storageClassName: string | undefined) => boolean;
  /** Why pods of the workload are not ready, if that could be read; see `podTroubleOf`. */
  readonly podTrouble?: PodTrouble | undefined;
  /** Whether a Service has endpoints; undefined when it is not of the plan or not known. */
  readonly hasEndpoints?: (namespace: string, name: string) => boolean | undefined;
}

/** Judges objects of one kind once they are neither being deleted nor out of date. */
export type KindRule = (object: KubeObject, facts: HealthFacts) => Health;

/** The object does what it is for. */
export function ready(message: string): Health {
  return verdict("Ready", "Ready", message);
}

/** It was stopped on purpose; a stage does not wait for it. */
export function suspended(message: string): Health {
  return verdict("Suspended", "Suspended", message);
}

/** Work is in progress. */
export function inProgress(reason: string, message: string): Health {
  return verdict("InProgress", reason, message);
}

/** It will not get ready by waiting. */
export function failed(reason: string, message: string): Health {
  return verdict("Failed", reason, message);
}

/** It is being deleted. */
export function terminating(message: string): Health {
  return verdict("Terminating", "Terminating", message);
}

/** The first verdict until the object is `limitMs` old, then the second. */
export function until(limitMs: number, stateAgeMs: number, verdicts: readonly [Health, Health]): Health {
  const [before, after] = verdicts;
  return stateAgeMs >= limitMs ? after : { ...before, recheckAfterMs: limitMs - stateAgeMs };
}

/** The verdict with a reason that says more; its own words follow. */
export function because({ reason, message }: PodTrouble, health: Health): Health {
  return { ...health, reason, message: oneSentence(`${message} ${health.message}`) };
}

const messageLimit = 256;

function verdict(state: HealthState, reason: string, message: string): Health {
  return { state, reason, message: oneSentence(message) };
}

/** Foreign texts hold line breaks and control characters, and can be of any length. */
function oneSentence(text: string): string {
  const plain = text
    .slice(0, 4 * messageLimit)
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim();
  return plain.length <= messageLimit ? plain : `${plain.slice(0, messageLimit - 1)}…`;
}

/** Everything an object of a plan can be, worst first. */
const worstToBest = [
  "Failed",
  "Conflict",
  "Missing",
  "Terminating",
  "Unknown",
  "InProgress",
  "Waiting",
  "Drifted",
  "Suspended",
  "Ready",
] as const;

/** The state of one object as a plan sees it. */
export type ResourceState = (typeof worstToBest)[number];

const ranks: ReadonlyMap<ResourceState, number> = new Map(worstToBest.map((state, rank) => [state, rank]));

/** The worse of two states. */
export function worse(one: ResourceState, other: ResourceState): ResourceState {
  return rankOf(one) <= rankOf(other) ? one : other;
}

/** The same items, the worst first; items of equal state keep their order. */
export function worstFirst<T extends { readonly state: ResourceState }>(items: readonly T[]): readonly T[] {
  return items.toSorted((one, other) => rankOf(one.state) - rankOf(other.state));
}

/** Whether a stage may continue past an object in this state. */
export function opensGate(state: ResourceState): boolean {
  return state === "Ready" || state === "Suspended";
}

function rankOf(state: ResourceState): number {
  return ranks.get(state) ?? 0;
}
