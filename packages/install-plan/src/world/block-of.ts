import type { InstallPlan } from "@quartermaster/api";
import type { Context, Kind } from "@quartermaster/runtime";

import type { Member } from "../member.ts";
import type { PlanMemory } from "../plan-memory.ts";
import { hasStarted, isInstalled } from "../progress.ts";
import { namespaces } from "./kinds.ts";
import type { MemberStores } from "./member-stores.ts";

/** What decides whether a member can be written now. */
export interface BlockFacts {
  readonly plan: InstallPlan;
  readonly kind: Kind | undefined;
  readonly stores: MemberStores;
  readonly memory: PlanMemory;
  readonly ctx: Context;
}

/** Why a member cannot be written yet: its kind is not served, or its namespace is not there. Undefined when it can. */
export function blockOf({ identity }: Member, facts: BlockFacts): string | undefined {
  const { kind: kindName, apiVersion, namespace } = identity;
  const { kind, stores, plan } = facts;
  if (kind === undefined) return `kind ${kindName} of ${apiVersion} is not served yet`;
  if (!stores.isWatched(kind)) return `objects of kind ${kindName} are not visible yet`;
  // Checked before the first write; here for a kind whose scope changed since, when its CRD was made anew.
  if (plan.spec.scope === "Namespace" && namespace !== plan.metadata.namespace)
    return `kind ${kindName} of ${apiVersion} is outside the plan's namespace; set scope: Cluster on the plan`;
  return namespace === undefined ? undefined : namespaceBlock(namespace, facts);
}

/**
 * While a plan is carried out a namespace is the one that it was at the beginning, or when we first saw it: under the same name
 * somebody else may have made one for another purpose, with other permissions in it.
 */
function namespaceBlock(namespace: string, { plan, memory, ctx }: BlockFacts): string | undefined {
  const home = ctx.store(namespaces).get({ name: namespace });
  if (home === undefined) return `namespace ${namespace} does not exist yet`;
  const { uid = "", deletionTimestamp } = home.metadata;
  if (deletionTimestamp !== undefined) return `namespace ${namespace} is being deleted`;
  if (!hasStarted(plan)) memory.pinNamespace(namespace, uid);
  if (isInstalled(plan) || memory.pinnedNamespaceUid(namespace, uid) === uid) return undefined;
  return `namespace ${namespace} was deleted and recreated; create a new plan for it`;
}
