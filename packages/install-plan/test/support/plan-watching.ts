import { installPlan } from "@quartermaster/api";
import type { Kind, KubeObject, Live } from "@quartermaster/runtime";
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
import { wokenBy } from "@quartermaster/runtime/testing";

import type { WakeTrigger } from "../../src/seen.ts";
import { planWatches } from "../../src/wake/plan-watches.ts";
import { WakeIndex } from "../../src/wake/wake-index.ts";

/** The kinds whose changes lead to each trigger. */
export const watched: Readonly<Record<Exclude<WakeTrigger, "plans">, readonly Kind[]>> = {
  kinds: [customResourceDefinitions],
  namespaces: [namespaces],
  permissions: [roles, roleBindings, clusterRoles, clusterRoleBindings],
  admission: [
    validatingWebhookConfigurations,
    mutatingWebhookConfigurations,
    validatingAdmissionPolicies,
    validatingAdmissionPolicyBindings,
  ],
};

/** The watches of a controller, and whom a change of an object brings back. */
export interface PlanWatching {
  readonly wakeIndex: WakeIndex;
  /** Names of the plans that are brought back. */
  readonly change: (kind: Kind, old: KubeObject, changed?: KubeObject) => readonly string[];
  /** How often discovery was refreshed. */
  readonly invalidated: () => number;
}

/** Watches over which nothing has happened yet. */
export function watching(): PlanWatching {
  const wakeIndex = new WakeIndex();
  let invalidated = 0;
  const sources = planWatches({
    system: { monotonicMs: () => 0 } as never,
    discovery: { invalidate: () => (invalidated += 1) } as never,
    wakeIndex,
    orphanRequests: new Set(),
  });
  const change = (kind: Kind, old: KubeObject, changed = old): readonly string[] => {
    const ofKind = sources.filter(
      ({ source }) => ("plural" in source ? source : source.kind).kind === kind.kind,
    );
    const event = { type: "updated", isInitial: false, old: old as Live, new: changed as Live } as const;
    return [...new Set(ofKind.flatMap((each) => wokenBy(each, event)).map(({ name }) => name))].toSorted();
  };
  return { wakeIndex, change, invalidated: () => invalidated };
}

/** An object of the kind. */
export const anObject = (kind: Kind): KubeObject => ({
  apiVersion: "v1",
  kind: kind.kind,
  metadata: { name: "x" },
});

/** The kind of plans. */
export const installPlanKind: Kind = installPlan.kind;
