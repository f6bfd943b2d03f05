import type { ObjectRef, WokenRef } from "@quartermaster/runtime";

import type { WakeTrigger } from "../seen.ts";

/** Plans that wait for a change somewhere in the cluster, so that the change finds them. */
export class WakeIndex {
  readonly #waiting = new Map<WakeTrigger, Map<string, ObjectRef>>();
  readonly #changedAtMs = new Map<WakeTrigger, number>();

  /** The plan waits for these triggers from now on, and for no others. */
  subscribe({ name, namespace = "" }: ObjectRef, triggers: readonly WakeTrigger[]): void {
    const key = `${namespace}/${name}`;
    for (const trigger of allWakeTriggers) {
      const plans = this.#waiting.get(trigger) ?? new Map<string, ObjectRef>();
      if (triggers.includes(trigger)) plans.set(key, { name, namespace });
      else plans.delete(key);
      this.#waiting.set(trigger, plans);
    }
  }

  /** Something happened to the trigger: those who wait for it. */
  notify(trigger: WakeTrigger, nowMs: number): readonly ObjectRef[] {
    this.#changedAtMs.set(trigger, nowMs);
    return [...(this.#waiting.get(trigger)?.values() ?? [])];
  }

  /**
   * The same for what concerns one namespace only, without the object that changed. A crowd is woken later, and then once for
   * all changes until then: otherwise each change of one of a thousand plans would cost a thousand reconciles.
   */
  notifyNamespace(
    trigger: WakeTrigger,
    { namespace = "", name }: ObjectRef,
    nowMs: number,
  ): readonly WokenRef[] {
    const near = this.notify(trigger, nowMs).filter(
      (ref) => ref.namespace === namespace && ref.name !== name,
    );
    const afterMs = near.length <= crowd ? 0 : Math.min(near.length * crowdDelayMs, longestDelayMs);
    return near.map((ref) => ({ ...ref, afterMs }));
  }

  /**
   * Changes so recent that the server's responses may not show them yet. Plans that begin to wait after the change need it:
   * `reenqueueForMs` of a watch brings back only those that waited when it happened.
   */
  recentlyChanged(nowMs: number): readonly WakeTrigger[] {
    return allWakeTriggers.filter(
      (trigger) => nowMs - (this.#changedAtMs.get(trigger) ?? -Infinity) < recentMs,
    );
  }
}

/** So many plans of a namespace are woken together. */
const crowd = 20;
/** Each of more adds so much to the time until all are woken. */
const crowdDelayMs = 10;
const longestDelayMs = 30_000;

/** The API server's own caches follow what we were notified of within this time. */
const recentMs = 3_000;

/** Every trigger there is. */
export const allWakeTriggers: readonly WakeTrigger[] = [
  "kinds",
  "permissions",
  "namespaces",
  "plans",
  "admission",
];
