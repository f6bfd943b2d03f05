import type { ObjectRef } from "@quartermaster/runtime";

/** What a plan can wait for that is not an object of its own. */
export type Matter = "kinds" | "rights" | "namespaces" | "plans" | "admission";

/** Plans that wait for a change somewhere in the cluster, so that the change finds them. */
export class WaitingRoom {
  readonly #waiting = new Map<Matter, Map<string, ObjectRef>>();
  readonly #stirredAtMs = new Map<Matter, number>();

  /** The plan waits for these matters from now on, and for no others. */
  settle({ name, namespace = "" }: ObjectRef, matters: readonly Matter[]): void {
    const key = `${namespace}/${name}`;
    for (const matter of allMatters) {
      const plans = this.#waiting.get(matter) ?? new Map<string, ObjectRef>();
      if (matters.includes(matter)) plans.set(key, { name, namespace });
      else plans.delete(key);
      this.#waiting.set(matter, plans);
    }
  }

  /** Something happened to the matter: those who wait for it. */
  stir(matter: Matter, nowMs: number): readonly ObjectRef[] {
    this.#stirredAtMs.set(matter, nowMs);
    return [...(this.#waiting.get(matter)?.values() ?? [])];
  }

  /** What changed so short a time ago that the server's answers may not show it yet. */
  restless(nowMs: number): readonly Matter[] {
    return allMatters.filter((matter) => nowMs - (this.#stirredAtMs.get(matter) ?? -Infinity) < restlessMs);
  }
}

/** The API server's own caches follow what we have been told within this time. */
const restlessMs = 3_000;

/** How soon to look again meanwhile: one look is not enough. */
export const restlessRetryMs = 500;

/** Every matter there is. */
export const allMatters: readonly Matter[] = ["kinds", "rights", "namespaces", "plans", "admission"];
