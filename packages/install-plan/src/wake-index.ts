import type { ObjectRef, WokenRef } from "@quartermaster/runtime";

/** What a plan can wait for that is not an object of its own. */
export type WakeTrigger = "kinds" | "permissions" | "namespaces" | "plans" | "admission";

/** Plans that wait for a change somewhere in the cluster, so that the change finds them. */
export class WakeIndex {
  readonly #waiting = new Map<WakeTrigger, Map<string, ObjectRef>>();
  readonly #stirredAtMs = new Map<WakeTrigger, number>();

  /** The plan waits for these matters from now on, and for no others. */
  subscribe({ name, namespace = "" }: ObjectRef, matters: readonly WakeTrigger[]): void {
    const key = `${namespace}/${name}`;
    for (const matter of allWakeTriggers) {
      const plans = this.#waiting.get(matter) ?? new Map<string, ObjectRef>();
      if (matters.includes(matter)) plans.set(key, { name, namespace });
      else plans.delete(key);
      this.#waiting.set(matter, plans);
    }
  }

  /** Something happened to the matter: those who wait for it. */
  notify(matter: WakeTrigger, nowMs: number): readonly ObjectRef[] {
    this.#stirredAtMs.set(matter, nowMs);
    return [...(this.#waiting.get(matter)?.values() ?? [])];
  }

  /**
   * The same for what concerns one namespace only, without the object that changed. A crowd is woken later, and then once for
   * all changes until then: otherwise each change of one of a thousand plans would cost a thousand reconciles.
   */
  stirNear(matter: WakeTrigger, { namespace = "", name }: ObjectRef, nowMs: number): readonly WokenRef[] {
    const near = this.notify(matter, nowMs).filter((ref) => ref.namespace === namespace && ref.name !== name);
    const afterMs = near.length <= crowd ? 0 : Math.min(near.length * crowdDelayMs, longestDelayMs);
    return near.map((ref) => ({ ...ref, afterMs }));
  }

  /** What changed so short a time ago that the server's answers may not show it yet. */
  restless(nowMs: number): readonly WakeTrigger[] {
    return allWakeTriggers.filter(
      (matter) => nowMs - (this.#stirredAtMs.get(matter) ?? -Infinity) < restlessMs,
    );
  }
}

/** So many plans of a namespace are woken at once. */
const crowd = 20;
/** Each of more adds so much to the time until all are woken. */
const crowdDelayMs = 10;
const longestDelayMs = 30_000;

/** The API server's own caches follow what we were notified of within this time. */
const restlessMs = 3_000;

/** How soon to look again meanwhile: one look is not enough. */
export const restlessRetryMs = 500;

/** Every matter there is. */
export const allWakeTriggers: readonly WakeTrigger[] = [
  "kinds",
  "permissions",
  "namespaces",
  "plans",
  "admission",
];
