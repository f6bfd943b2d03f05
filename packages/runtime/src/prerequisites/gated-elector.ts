import type { InformerHandle, InformerPool } from "../informers/informer-pool.ts";
import { alwaysLeader, type LeaderElector } from "../leader/leader-elector.ts";
import { deepEqual } from "../object/deep-equal.ts";
import { nameOfKind } from "../object/kind.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import type { System, Timer } from "../system/system.ts";
import { aborted } from "../system/termination.ts";
import { type PrerequisiteState, type Prerequisites, prerequisiteState } from "./prerequisites.ts";

/** What the elector is made of. */
export interface GatedElectorOptions {
  readonly prerequisites: Prerequisites;
  /** Decides among the replicas whose prerequisites are met (default: this replica always acts). */
  readonly elector?: LeaderElector | undefined;
  /** The shared informers; read when the election begins. */
  readonly informers: () => Pick<InformerPool, "acquire">;
  readonly system: System;
  readonly log?: Log | undefined;
}

const reportAfterMs = 1_000;

/** An elector that takes part only while the prerequisites are met, and gives leadership back as soon as they are not. */
export class GatedElector implements LeaderElector {
  readonly #options: GatedElectorOptions;
  readonly #elector: LeaderElector;
  #state: PrerequisiteState = { kind: "unknown" };
  #reported: readonly string[] = [];
  #reporting: Timer | undefined;
  /** Aborted when the state changes between met and not met. */
  #change = new AbortController();

  constructor(options: GatedElectorOptions) {
    this.#options = options;
    this.#elector = options.elector ?? alwaysLeader;
  }

  get isMet(): boolean {
    return this.#state.kind === "met";
  }

  /** One sentence for each problem. */
  get problems(): readonly string[] {
    return this.#state.kind === "unmet" ? this.#state.problems : [];
  }

  writeBudgetMs(): number {
    if (!this.isMet) return 0;
    return this.#elector.writeBudgetMs?.() ?? Number.MAX_SAFE_INTEGER;
  }

  async run(signal: AbortSignal, onStart: () => void, onStop: () => void): Promise<void> {
    await using handles = new AsyncDisposableStack();
    const watched = this.#options.prerequisites.requests.map((request) =>
      handles.use(this.#options.informers().acquire(request)),
    );
    const judge = (): void => {
      this.#judge(watched);
    };
    for (const handle of watched) {
      handle.addHandler(judge);
      void handle.firstResponse.then(judge);
      void handle.synced.then(judge);
    }
    judge();
    while (!signal.aborted) {
      this.#change = new AbortController();
      const untilChange = AbortSignal.any([signal, this.#change.signal]);
      if (this.isMet) await this.#elector.run(untilChange, onStart, onStop);
      else await aborted(untilChange);
    }
    this.#reporting?.cancel();
  }

  #judge(watched: readonly InformerHandle[]): void {
    const { prerequisites } = this.#options;
    const sources = prerequisites.requests.map(({ kind }, at) => {
      const handle = watched[at];
      return {
        kind: nameOfKind(kind),
        isForbidden: handle?.isForbidden ?? false,
        store: handle?.store.isSynced === true ? handle.store : undefined,
      };
    });
    const before = this.#state;
    this.#state = prerequisiteState(sources, prerequisites.problemsIn);
    if (deepEqual(before, this.#state)) return;
    this.#report();
    if (this.isMet !== (before.kind === "met")) this.#change.abort();
  }

  /** Objects are deleted and created one after the other: only what has lasted is logged. */
  #report(): void {
    const { system, log = silentLog } = this.#options;
    this.#reporting?.cancel();
    this.#reporting = system.setTimer(reportAfterMs, () => {
      const { problems } = this;
      if (deepEqual(problems, this.#reported)) return;
      for (const problem of problems) log.error("prerequisite is not met", { problem });
      if (this.isMet) log.info("prerequisites are met");
      this.#reported = problems;
    });
  }
}
