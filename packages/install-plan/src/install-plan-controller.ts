import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  ApiError,
  classify,
  type Context,
  type Controller,
  defineController,
  defineDeletion,
  type Discovery,
  type Kind,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
  type Recipe,
  type System,
} from "@quartermaster/runtime";
import {
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
  storageClasses,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from "@quartermaster/runtime/kinds";

import { deletionRules } from "./deletion/deletion-rules.ts";
import type { DeletionSeen } from "./deletion/deletion-seen.ts";
import { observeDeletion } from "./deletion/observe-deletion.ts";
import { isOrphaning } from "./deletion/was-orphaned.ts";
import { ContentReader } from "./manifest/content-reader.ts";
import { observe } from "./observe.ts";
import { byPlanId, claimedPlanId } from "./ownership/owner-labels.ts";
import { perform, performRemoval } from "./perform.ts";
import type { PlanAction, RemovalAction } from "./plan-action.ts";
import { planMemory } from "./plan-memory.ts";
import type { PlanObserver } from "./plan-observer.ts";
import { reportPhaseChange } from "./report/phase-change.ts";
import { planConditionTypes } from "./report/plan-conditions.ts";
import { statusAfterError } from "./report/status-after-error.ts";
import { rules } from "./rules.ts";
import type { Seen } from "./seen.ts";
import { recheckMs, WakeIndex, type WakeTrigger } from "./wake/wake-index.ts";
import { wakeTriggers } from "./wake/wake-triggers.ts";

/** What the domain needs of its process. */
export interface InstallPlanOptions {
  readonly system: System;
  readonly discovery: Discovery;
  /** Only plans of this namespace (default: all). */
  readonly namespace?: string;
  /** Plans worked on at the same time (default: 4). */
  readonly concurrency?: number;
  /** Nothing is done for plans whose author is not recorded (default: false). */
  readonly requireAuthor?: boolean;
  /** For metrics. */
  readonly observer?: PlanObserver;
}

/** What decides the permissions of accounts: a change of any may let a plan go on. */
const accessKinds: readonly Kind[] = [roles, roleBindings, clusterRoles, clusterRoleBindings];

/** What may refuse an object besides the server itself and its policies. */
const webhookKinds: readonly Kind[] = [validatingWebhookConfigurations, mutatingWebhookConfigurations];

/** Set on plans before anything is made for them. */
const finalizer = "install.quartermaster.dev/clean-up";

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
    ...(namespace === undefined ? {} : { namespace }),
    tracks: (object, plans) => {
      const id = claimedPlanId(object);
      return id === undefined ? [] : plans.listBy(byPlanId, id).map(({ metadata }) => metadata);
    },
    reads: [storageClasses, resourceManifest.kind, { kind: serviceAccounts, isMetadataOnly: true }],
    watches: planWatches(state),
  });
}

/** What the reconciles of one process share. */
export interface ControllerState {
  readonly system: System;
  readonly discovery: Discovery;
  readonly requireAuthor: boolean;
  readonly observer: PlanObserver;
  readonly contents: ContentReader;
  readonly wakeIndex: WakeIndex;
  /** Uids of plans seen with the request to orphan, which the garbage collector may take off before a reconcile reads it. */
  readonly orphanRequests: Set<string>;
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
    finalizer,
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
 * Permissions of our own may be missing that no rule asks about: those to see what another plan left, or what a transformation selects.
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

/** The kinds besides its own objects that bring a plan back, and whom. */
export function planWatches({
  system,
  discovery,
  wakeIndex,
  orphanRequests,
}: Pick<ControllerState, "system" | "discovery" | "wakeIndex" | "orphanRequests">): readonly MappedSource[] {
  const waitingFor = (trigger: WakeTrigger) => (): readonly ObjectRef[] =>
    wakeIndex.notify(trigger, system.monotonicMs());
  return [
    mappedFrom(
      installPlan.kind,
      ({ metadata }) => wakeIndex.notifyNamespace("plans", metadata, system.monotonicMs()),
      {
        changed: ({ metadata, status }) => [metadata.labels, metadata.generation, handoverOf(status)],
      },
    ),
    mappedFrom(
      installPlan.kind,
      (plan) => {
        const isInOurHands = plan.metadata.finalizers?.includes(finalizer) ?? false;
        if (isInOurHands && isOrphaning(plan)) orphanRequests.add(plan.metadata.uid ?? "");
        return [];
      },
      { changed: ({ metadata }) => metadata.finalizers },
    ),
    mappedFrom(installPlan.kind, relatives, {
      changed: ({ status }) => handoverOf(status),
    }),
    mappedFrom({ kind: namespaces, isMetadataOnly: true }, waitingFor("namespaces")),
    mappedFrom({ kind: customResourceDefinitions, isMetadataOnly: true }, () => {
      discovery.invalidate();
      return wakeIndex.notify("kinds", system.monotonicMs());
    }),
    ...webhookKinds.map((kind) => mappedFrom({ kind, isMetadataOnly: true }, waitingFor("admission"))),
    // Whole: whether they are in force decides which confirmations count.
    mappedFrom(validatingAdmissionPolicies, waitingFor("admission")),
    mappedFrom(validatingAdmissionPolicyBindings, waitingFor("admission")),
    ...accessKinds.map((kind) => mappedFrom({ kind, isMetadataOnly: true }, waitingFor("permissions"))),
  ];
}

/** What plans have to know of each other. */
function handoverOf(status: InstallPlan["status"]): readonly unknown[] {
  return [status?.phase, status?.replaces, status?.replacedBy];
}

/** Plans that have to hear of a change of this one: those it replaces, and the one that replaces it. */
function relatives({ metadata, spec, status }: InstallPlan): readonly ObjectRef[] {
  const { namespace = "" } = metadata;
  const names = [
    ...(spec.replaces?.plans ?? []).map(({ name }) => name),
    ...(status?.replaces ?? []).map(({ name }) => name),
    ...(status?.replacedBy === undefined ? [] : [status.replacedBy.name]),
  ];
  return [...new Set(names)].map((name) => ({ namespace, name }));
}
