import type { ObjectRef } from "@quartermaster/runtime";

/** What a plan can wait for that is not an object of its own. */
export type Matter = "kinds" | "rights" | "namespaces" | "plans";

/** Plans that wait for a change somewhere in the cluster, so that the change finds them. */
export class WaitingRoom {
  readonly #waiting = new Map<Matter, Map<string, ObjectRef>>();

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

  waitingFor(matter: Matter): readonly ObjectRef[] {
    return [...(this.#waiting.get(matter)?.values() ?? [])];
  }
}

const allMatters: readonly Matter[] = ["kinds", "rights", "namespaces", "plans"];
