import { defineMemory, type KubeObject } from "@quartermaster/runtime";

import { RevertHistory } from "./drift/revert-conflicts.ts";
import type { PodObservation } from "./members/pod-observations.ts";
import type { IdentityKey } from "./model/identity.ts";
import type { Issue } from "./model/issue.ts";
import type { WriteFailure } from "./model/write-failure.ts";

export type DryRun =
  | { readonly kind: "fine"; readonly isNew: boolean }
  /** Cannot be queried yet: its kind, namespace or role comes with the plan. */
  | { readonly kind: "deferred" }
  | { readonly kind: "issue"; readonly issue: Issue }
  | { readonly kind: "missingPermission"; readonly message: string }
  | { readonly kind: "transient"; readonly message: string; readonly retryAfterMs: number };

/**
 * Memory of one plan between reconciles. Nothing in it is needed for the right outcome: a process that begins
 * again queries again what it does not know.
 */
export class PlanMemory {
  /** Of members, of jobs of stages, and of objects that are to go. */
  readonly writeFailures = new Map<IdentityKey, WriteFailure>();
  /** Objects without owner labels, read one by one; undefined means that the object does not exist. */
  readonly unlabelledObjects = new Map<IdentityKey, KubeObject | undefined>();
  /** Paths of an object, under its present content, that the server never gave us, e.g. because it drops them. */
  readonly dropped = new Map<IdentityKey, { readonly digest: string; readonly paths: readonly string[] }>();
  /** With the stamp of manifest and live object that they were made for. */
  readonly dryRuns = new Map<IdentityKey, { readonly stamp: string; readonly result: DryRun }>();
  /** Jobs among the plan's objects that have been seen at work. */
  readonly startedJobs = new Set<IdentityKey>();
  /** Of workloads among the plan's objects that are not ready. */
  readonly podObservations = new Map<IdentityKey, PodObservation>();
  /** Of the Job of a stage that runs; one runs at a time. */
  jobObservation: { readonly jobName: string; readonly observation: PodObservation } | undefined;
  /** Warnings that were reported to users. */
  readonly reported = new Set<string>();
  /** Reverts, and fields that other clients keep changing. */
  readonly reverts = new RevertHistory();
  /** When each thing that is waited for was first seen, by the monotonic clock. */
  readonly #starts = new Map<string, number>();
  readonly #generations = new Map<string, { readonly generation: number; readonly sinceMs: number }>();
  readonly #pinnedNamespaces = new Map<string, string>();
  readonly #requested = new Map<
    string,
    { readonly resourceVersion: string | undefined; readonly atMs: number }
  >();

  /** Uids of objects that the account may neither delete nor release. */
  get unreleasable(): ReadonlySet<string> {
    const failures = [...this.writeFailures.values()].filter(({ action }) => action === "release");
    return new Set(failures.flatMap(({ uid }) => uid ?? []));
  }

  /** The object is to be deleted or released, and the server has agreed. */
  noteRequest({ metadata: { uid = "", resourceVersion } }: KubeObject, atMs: number): void {
    this.#requested.set(uid, { resourceVersion, atMs });
  }

  /** Whether that was checked for this very version of the object: its watch is briefly behind. */
  isRequested({ metadata: { uid = "", resourceVersion } }: KubeObject, nowMs: number): boolean {
    const requested = this.#requested.get(uid);
    return requested?.resourceVersion === resourceVersion && nowMs - (requested?.atMs ?? 0) < watchLagMs;
  }

  /** Drops what was found at the pods of all others. */
  keepPodObservations(kept: ReadonlySet<IdentityKey>): void {
    for (const key of this.podObservations.keys()) if (!kept.has(key)) this.podObservations.delete(key);
  }

  /** Milliseconds since the matter was first queried, plus its age at that time. */
  elapsedMs(matter: string, nowMs: number, lastedMs = 0): number {
    const startMs = this.#starts.get(matter) ?? nowMs - lastedMs;
    this.#starts.set(matter, startMs);
    return nowMs - startMs;
  }

  /** Milliseconds since the object was first seen in its present generation. */
  ageMs({ metadata: { uid = "", generation = 0 } }: KubeObject, nowMs: number): number {
    const known = this.#generations.get(uid);
    if (known?.generation === generation) return nowMs - known.sinceMs;
    this.#generations.set(uid, { generation, sinceMs: nowMs });
    return 0;
  }

  /** The next question about these matters begins again. */
  restart(prefix: string): void {
    for (const matter of this.#starts.keys()) if (matter.startsWith(prefix)) this.#starts.delete(matter);
  }

  /** The namespaces as an earlier process first saw them. */
  recallNamespaces(pinnedNamespaces: readonly PinnedNamespace[]): void {
    for (const { name, uid } of pinnedNamespaces)
      if (!this.#pinnedNamespaces.has(name)) this.#pinnedNamespaces.set(name, uid);
  }

  /** The namespaces that were checked, as they were then. */
  get pinnedNamespaces(): readonly PinnedNamespace[] {
    return [...this.#pinnedNamespaces]
      .map(([name, uid]) => ({ name, uid }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .slice(0, pinnedNamespacesLimit);
  }

  /** From now on this one is meant; undefined: none in particular. */
  pinNamespace(namespace: string, uid: string | undefined): void {
    if (uid === undefined) this.#pinnedNamespaces.delete(namespace);
    else this.#pinnedNamespaces.set(namespace, uid);
  }

  /** The uid of the one that is meant; undefined where none is yet. */
  pinnedNamespaceUid(namespace: string): string | undefined {
    return this.#pinnedNamespaces.get(namespace);
  }
}

/** So long a watch may be behind before we read again. */
const watchLagMs = 5_000;

/** A namespace of which only the one with this uid is meant. */
export interface PinnedNamespace {
  readonly name: string;
  readonly uid: string;
}

/** Maximum number in the status; others are known to this process only. */
const pinnedNamespacesLimit = 500;

export const planMemory = defineMemory("plan", () => new PlanMemory());
