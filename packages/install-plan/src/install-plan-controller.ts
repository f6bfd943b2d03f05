import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  ApiError,
  classify,
  type Context,
  type Controller,
  defineController,
  defineDeletion,
  type Discovery,
  type Recipe,
  type System,
} from "@quartermaster/runtime";
import { serviceAccounts, storageClasses } from "@quartermaster/runtime/kinds";

import { deletionRules } from "./deletion/deletion-rules.ts";
import type { DeletionSeen } from "./deletion/deletion-seen.ts";
import { observeDeletion } from "./deletion/observe-deletion.ts";
import { ContentReader } from "./manifest/content-reader.ts";
import { recheckMs } from "./model/decision.ts";
import { planFinalizer } from "./model/plan-status.ts";
import { observe } from "./observe.ts";
import { byPlanId, claimedPlanId } from "./ownership/owner-labels.ts";
import { perform, performRemoval } from "./perform.ts";
import type { PlanAction, RemovalAction } from "./plan-action.ts";
import { planMemory } from "./plan-memory.ts";
import type { PlanObserver } from "./plan-metrics.ts";
import { reportPhaseChange } from "./report/phase-change.ts";
import { planConditionTypes } from "./report/plan-conditions.ts";
import { statusAfterError } from "./report/plan-report.ts";
import { rules } from "./rules.ts";
import type { Seen } from "./seen.ts";
import { type PlanWatchDeps, planWatches } from "./wake/plan-watches.ts";
import { WakeIndex } from "./wake/wake-index.ts";
import { wakeTriggers } from "./wake/wake-triggers.ts";

/** Dependencies of the domain. */
export interface InstallPlanOptions {
  readonly system: System;
  readonly discovery: Discovery;
  /** Only plans of this namespace (default: all). */
  readonly namespace?: string | undefined;
  /** Plans worked on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** Nothing is done for plans whose author is not recorded (default: false). */
  readonly requireAuthor?: boolean | undefined;
  /** For metrics. */
  readonly observer?: PlanObserver | undefined;
}

/**
 * The controller of InstallPlans.
 *
 * @example
 * const controllers = [installPlanController({ system, discovery })];
 */
export function installPlanController({
  system,
  discovery,
  namespace,
  concurrency = 4,
  requireAuthor = false,
  observer = {},
}: InstallPlanOptions): Controller {
  const state: ControllerState = {
    system,
    discovery,
    requireAuthor,
    observer,
    contents: new ContentReader(),
    wakeIndex: new WakeIndex(),
    orphanRequests: new Set(),
  };
  return defineController(installPlan.kind, {
    recipe: planRecipe(state),
    concurrency,
    namespace,
    tracks: (object, plans) => {
      const id = claimedPlanId(object);
      return id === undefined ? [] : plans.listBy(byPlanId, id).map(({ metadata }) => metadata);
    },
    reads: [storageClasses, resourceManifest.kind, { kind: serviceAccounts, isMetadataOnly: true }],
    watches: planWatches(state),
  });
}

/** State that the reconciles of one process share. */
interface ControllerState extends PlanWatchDeps {
  readonly requireAuthor: boolean;
  readonly observer: PlanObserver;
  readonly contents: ContentReader;
}

function planRecipe(state: ControllerState): Recipe<InstallPlan, Seen, PlanAction> {
  const { system, wakeIndex } = state;
  const deletion = defineDeletion<InstallPlan, DeletionSeen, RemovalAction>({
    rules: deletionRules,
    observe: async (plan, ctx) => {
      wakeIndex.subscribe(plan.metadata, ["permissions", "namespaces"]);
      return await observeDeletion(plan, ctx, state);
    },
    perform: async (action, ctx, seen) => {
      await performRemoval(action, ctx, { seen, parts: state });
    },
  });
  return {
    finalizer: planFinalizer,
    conditionTypes: planConditionTypes,
    rules,
    observe: async (plan, ctx) => {
      const seen = await observeWhenAllowed(plan, ctx, state);
      wakeIndex.subscribe(plan.metadata, wakeTriggers(seen));
      return { ...seen, recentlyChanged: wakeIndex.recentlyChanged(system.monotonicMs()) };
    },
    perform: async (action, ctx, seen) => {
      await perform(action, ctx, { seen, parts: state });
    },
    statusWritten: reportPhaseChange,
    failureStatus: statusAfterError,
    deletion: {
      decide: async (plan, ctx, now) => {
        const decided = await deletion.decide(plan, ctx, now);
        if (decided.verdict.outcome.kind === "settled") forget(plan, state);
        return decided;
      },
    },
  };
}

const refusal = "refusal";

/** In a cluster where permissions change all the time, a refusal is reported after so long all the same. */
const quietRefusalMs = 4_000;

/**
 * Permissions of our own may be missing that no rule checks: those to see what another plan left, or what a transformation selects.
 * A change of permissions brings the plan back, shortly before the server itself goes by it: until then the refusal is no news.
 */
async function observeWhenAllowed(plan: InstallPlan, ctx: Context, state: ControllerState): Promise<Seen> {
  const { wakeIndex, system } = state;
  const memory = ctx.memory(planMemory);
  try {
    const seen = await observe(plan, ctx, state);
    memory.restart(refusal);
    return seen;
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    wakeIndex.subscribe(plan.metadata, ["permissions"]);
    const nowMs = system.monotonicMs();
    const isNews = memory.elapsedMs(refusal, nowMs) >= quietRefusalMs;
    if (isNews || !wakeIndex.recentlyChanged(nowMs).includes("permissions")) throw error;
    const facts = { class: "transient", retryAfterMs: recheckMs, mayHaveActed: false, cause: error } as const;
    throw new ApiError("permissions have just changed", facts);
  }
}

function forget(plan: InstallPlan, state: ControllerState): void {
  const { contents, wakeIndex, orphanRequests } = state;
  contents.forget(plan.metadata.uid ?? "");
  wakeIndex.subscribe(plan.metadata, []);
  orphanRequests.delete(plan.metadata.uid ?? "");
}
