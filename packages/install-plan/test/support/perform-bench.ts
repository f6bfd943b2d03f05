import type { InstallPlan } from "@quartermaster/api";
import { type Context, type KubeObject, silentLog, type System } from "@quartermaster/runtime";
import { RecordedApi } from "@quartermaster/testkit";

import { perform } from "../../src/perform.ts";
import type { PlanAction } from "../../src/plan-action.ts";
import { PlanMemory } from "../../src/plan-memory.ts";
import { aPlan } from "./plans.ts";

/** What one action is carried out with: a server that remembers every write, and the memory of one plan. */
export interface PerformBench {
  readonly api: RecordedApi;
  readonly memory: PlanMemory;
  readonly events: readonly string[];
  readonly wrote: readonly string[];
  /** Carries it out for a plan (default: `p`); gives what it threw. */
  carryOut(action: PlanAction, plan?: InstallPlan): Promise<unknown>;
}

/** The clock of all benches, monotonic. */
export const benchMs = 100_000;

/** A bench whose server has these objects. */
export function aPerformBench(objects: readonly KubeObject[] = []): PerformBench {
  const api = new RecordedApi(objects);
  const memory = new PlanMemory();
  const [events, wrote]: [string[], string[]] = [[], []];
  const ctx = {
    client: api.client,
    log: silentLog,
    signal: new AbortController().signal,
    events: { record: ({ reason }: { readonly reason: string }) => events.push(reason) },
    memory: () => memory,
  } as unknown as Context;
  const system = { monotonicMs: () => benchMs } as unknown as System;
  const observer = { wrote: (verb: string) => wrote.push(verb) };
  return {
    api,
    memory,
    events,
    wrote,
    carryOut: async (action, plan = aPlan("p")) => {
      try {
        const seen = { plan, ownerLabels: { plan, revision: 1 } };
        await perform(action, ctx, { seen, parts: { system, observer } });
        return undefined;
      } catch (error) {
        return error;
      }
    },
  };
}
