import type { ObjectRef } from "@quartermaster/runtime";

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

  /** What changed so short a time ago that the server's answers may not show it yet. */
  restless(nowMs: number): readonly WakeTrigger[] {
    return allWakeTriggers.filter(
      (matter) => nowMs - (this.#stirredAtMs.get(matter) ?? -Infinity) < restlessMs,
    );
  }
}

/** The API server's own caches follow what we have been told within this time. */
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
