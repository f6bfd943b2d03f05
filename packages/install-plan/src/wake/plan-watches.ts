import { installPlan, type InstallPlan } from "@quartermaster/api";
import {
  type Discovery,
  type Kind,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
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
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from "@quartermaster/runtime/kinds";

import { isOrphaning, planFinalizer } from "../model/plan-status.ts";
import type { WakeTrigger } from "../seen.ts";
import type { WakeIndex } from "./wake-index.ts";

export interface PlanWatchDeps {
  readonly system: System;
  readonly discovery: Discovery;
  readonly wakeIndex: WakeIndex;
  /** Uids of plans seen with the request to orphan, which the garbage collector may remove before a reconcile reads it. */
  readonly orphanRequests: Set<string>;
}

/** The kinds besides its own objects that bring a plan back, and whom. */
export function planWatches({
  system,
  discovery,
  wakeIndex,
  orphanRequests,
}: PlanWatchDeps): readonly MappedSource[] {
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
        const isInOurHands = plan.metadata.finalizers?.includes(planFinalizer) ?? false;
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

/** The facts that plans have to know of each other. */
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

/** Kinds that decide the permissions of accounts: a change of any may let a plan continue. */
const accessKinds: readonly Kind[] = [roles, roleBindings, clusterRoles, clusterRoleBindings];

/** Webhooks, which may refuse an object besides the server itself and its policies. */
const webhookKinds: readonly Kind[] = [validatingWebhookConfigurations, mutatingWebhookConfigurations];
