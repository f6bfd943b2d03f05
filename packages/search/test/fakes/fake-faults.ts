import type { System } from "@quartermaster/runtime";

import type { EngineCall } from "../../src/engine/engine-client.ts";
import { EngineError, type EngineErrorCode } from "../../src/engine/engine-error.ts";

export type FakeFault =
  /** It fails; with `isActed` the engine does it and the response is lost. */
  | { readonly kind: "throw"; readonly code: EngineErrorCode; readonly isActed?: boolean }
  /** No response comes; the client gives up after 30 s. */
  | { readonly kind: "hang" }
  /** The response is made up: no shards, no nodes, another version. */
  | { readonly kind: "lie"; readonly value: unknown }
  /** The response is made from the true one. */
  | { readonly kind: "alter"; readonly change: (truth: unknown) => unknown }
  /** It fails as if nothing had happened, and the engine does it later: a request that was held up on its way. */
  | { readonly kind: "late"; readonly afterMs: number };

/** A fault, for how many calls it holds (default: until it is cleared). */
export interface FaultPlan {
  readonly call: EngineCall | "servedCertificate";
  readonly fault: FakeFault;
  readonly times?: number;
}

const hangMs = 30_000;

/** The faults that a test has planned. */
export class FakeFaults {
  #plans: readonly { readonly plan: FaultPlan; left: number }[] = [];

  plan(plan: FaultPlan): void {
    this.#plans = [...this.#plans, { plan, left: plan.times ?? Number.POSITIVE_INFINITY }];
  }

  clear(): void {
    this.#plans = [];
  }

  /** Does the work, or what was planned for it. */
  async around<T>(call: FaultPlan["call"], work: () => T, system: Pick<System, "sleep">): Promise<T> {
    const fault = this.#take(call);
    if (fault === undefined) return work();
    if (fault.kind === "hang") {
      await system.sleep(hangMs);
      throw new EngineError(`${call}: no response in time`, { code: "timeout" });
    }
    if (fault.kind === "throw") {
      if (fault.isActed === true) work();
      throw new EngineError(`${call}: planned fault`, {
        code: fault.code,
        mayHaveActed: fault.isActed ?? false,
      });
    }
    if (fault.kind === "late") {
      void system.sleep(fault.afterMs).then(work);
      throw new EngineError(`${call}: no response in time`, { code: "timeout" });
    }
    return (fault.kind === "alter" ? fault.change(work()) : fault.value) as T;
  }

  #take(call: FaultPlan["call"]): FakeFault | undefined {
    const entry = this.#plans.find(({ plan, left }) => plan.call === call && left > 0);
    if (entry === undefined) return undefined;
    entry.left -= 1;
    return entry.plan.fault;
  }
}
