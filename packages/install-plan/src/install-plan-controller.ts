import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  classify,
  type CleanUpEnd,
  type Context,
  type Controller,
  defineController,
  type Discovery,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
  type Outcome,
  type Recipe,
  type System,
} from "@quartermaster/runtime";

import { cleanUpPlan } from "./cleanup/clean-up.ts";
import { isOrphaning } from "./cleanup/orphaning.ts";
import { claimedMark, planId } from "./marks.ts";
import { mattersOf } from "./matters.ts";
import { performNoting } from "./perform/note-refusal.ts";
import type { PlanAction } from "./plan-action.ts";
import { PlanMemories } from "./plan-memory.ts";
import type { PlanObserver } from "./plan-observer.ts";
import { planConditionTypes } from "./report/plan-conditions.ts";
import { planRules } from "./rules/plan-rules.ts";
import { type Matter, restlessRetryMs, WaitingRoom } from "./waiting-room.ts";
import { ContentReader } from "./world/content-reader.ts";
import {
  accessKinds,
  admissionKinds,
  customResourceDefinitions,
  namespaces,
  serviceAccounts,
  storageClasses,
} from "./world/kinds.ts";
import { observePlan } from "./world/observe-plan.ts";
import type { Seen } from "./world/seen.ts";

/** What the domain needs of its process. */
export interface InstallPlanOptions {
  readonly system: System;
  readonly discovery: Discovery;
  /** Only plans of this namespace; all unless told. */
  readonly namespace?: string;
  /** Plans worked on at the same time; 4 unless told. */
  readonly concurrency?: number;
  /** Nothing is done for plans whose author is not recorded (default: false). */
  readonly requireAuthor?: boolean;
  /** For metrics. */
  readonly observer?: PlanObserver;
}

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
  const office: Office = {
    system,
    discovery,
    requireAuthor,
    observer,
    memories: new PlanMemories(),
    contents: new ContentReader(),
    room: new WaitingRoom(),
    plansById: new Map(),
  };
  return defineController({
    kind: installPlan.kind,
    recipe: planRecipe(office),
    concurrency,
    ...(namespace === undefined ? {} : { namespace }),
    tracks: (object) => {
      const plan = office.plansById.get(claimedMark(object) ?? "");
      return plan === undefined ? [] : [plan];
    },
    reads: [storageClasses],
    follows: [resourceManifest.kind, { kind: serviceAccounts, isMetadataOnly: true }],
    watches: planWatches(office),
  });
}

/** What the passes of one process share. */
interface Office {
  readonly system: System;
  readonly discovery: Discovery;
  readonly requireAuthor: boolean;
  readonly observer: PlanObserver;
  readonly memories: PlanMemories;
  readonly contents: ContentReader;
  readonly room: WaitingRoom;
  /** Every plan that a pass was made for; only those have watches that can tell of their objects. */
  readonly plansById: Map<string, ObjectRef>;
}

function planRecipe(office: Office): Recipe<InstallPlan, Seen, PlanAction> {
  const { system, room, plansById } = office;
  return {
    finalizer,
    conditionTypes: planConditionTypes,
    rules: planRules,
    observe: async (plan, ctx) => {
      plansById.set(planId(plan.metadata), plan.metadata);
      const seen = await observeWhenAllowed(plan, ctx, office);
      room.settle(plan.metadata, mattersOf(seen));
      return { ...seen, restless: room.restless(system.monotonicMs()) };
    },
    perform: async (action, ctx) => {
      await performNoting(action, ctx, office);
    },
    cleanUp: async (plan, ctx) => {
      plansById.set(planId(plan.metadata), plan.metadata);
      const end = await cleanUpPlan(plan, ctx, office);
      if ("kind" in end && end.kind === "settled") forget(plan, office);
      return soonIfRefused(end, plan, office);
    },
  };
}

const mostLooks = 8;

/**
 * Rights of our own may be missing that no rule asks about: those to see what another plan left, or what a transformation selects.
 * A change of rights brings the plan back, a moment before the server itself goes by it.
 */
async function observeWhenAllowed(plan: InstallPlan, ctx: Context, office: Office): Promise<Seen> {
  const { room, system } = office;
  for (let look = 1; ; look += 1) {
    try {
      return await observePlan(plan, ctx, office);
    } catch (error) {
      if (classify(error) !== "forbidden") throw error;
      room.settle(plan.metadata, ["rights"]);
      if (look >= mostLooks || !room.restless(system.monotonicMs()).includes("rights")) throw error;
    }
    await system.sleep(restlessRetryMs, ctx.signal);
  }
}

/** A right that comes back brings the plan back; the server's own view of rights follows a moment later. */
function soonIfRefused(
  end: Outcome | CleanUpEnd,
  { metadata }: InstallPlan,
  { room, system }: Office,
): Outcome | CleanUpEnd {
  if (!("outcome" in end) || end.outcome.kind !== "stalled") return end;
  room.settle(metadata, ["rights"]);
  if (!room.restless(system.monotonicMs()).includes("rights")) return end;
  return { ...end, outcome: { ...end.outcome, retryAfterMs: restlessRetryMs } };
}

function forget(plan: InstallPlan, { plansById, memories, contents, room }: Office): void {
  plansById.delete(planId(plan.metadata));
  memories.forget(plan);
  contents.forget(plan.metadata.uid ?? "");
  room.settle(plan.metadata, []);
}

function planWatches({ system, discovery, room, memories }: Office): readonly MappedSource[] {
  const waitingFor = (matter: Matter) => (): readonly ObjectRef[] => room.stir(matter, system.monotonicMs());
  return [
    mappedFrom(
      installPlan.kind,
      ({ metadata: { namespace, name } }) =>
        room
          .stir("plans", system.monotonicMs())
          .filter((ref) => ref.namespace === namespace && ref.name !== name),
      { changed: ({ metadata, status }) => [metadata.labels, metadata.generation, handoverOf(status)] },
    ),
    mappedFrom(
      installPlan.kind,
      (plan) => {
        const isInOurHands = plan.metadata.finalizers?.includes(finalizer) ?? false;
        if (isInOurHands && isOrphaning(plan)) memories.of(plan).noteOrphaned();
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
      return room.stir("kinds", system.monotonicMs());
    }),
    ...admissionKinds.map((kind) => mappedFrom({ kind, isMetadataOnly: true }, waitingFor("admission"))),
    ...accessKinds.map((kind) => mappedFrom({ kind, isMetadataOnly: true }, waitingFor("rights"))),
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
