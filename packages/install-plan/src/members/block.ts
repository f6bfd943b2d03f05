import type { InstallPlan } from "@quartermaster/api";
import type { Context, Kind, Why } from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import type { MemberStores } from "../inventory/member-stores.ts";
import type { Member } from "../model/member.ts";
import { hasStarted, isInstalled } from "../model/plan-status.ts";
import { isLabelledBy } from "../ownership/owner-labels.ts";
import type { PlanMemory } from "../plan-memory.ts";
import { reasons } from "../reasons.ts";

export interface BlockFacts {
  readonly plan: InstallPlan;
  readonly kind: Kind | undefined;
  readonly stores: MemberStores;
  readonly memory: PlanMemory;
  readonly ctx: Context;
}

/** Why a member cannot be written yet: its kind is not served, or its namespace is not there. Undefined when it can. */
export function blockOf({ identity }: Member, facts: BlockFacts): Why | undefined {
  const { kind: kindName, apiVersion, namespace } = identity;
  const { kind, stores, plan } = facts;
  const waitsForKind = (message: string): Why => ({ reason: reasons.waitingForKind, message });
  if (kind === undefined) return waitsForKind(`kind ${kindName} of ${apiVersion} is not served yet`);
  if (!stores.isWatched(kind)) return waitsForKind(`objects of kind ${kindName} are not visible yet`);
  // Checked before the first write; here for a kind whose scope changed since, when its CRD was made again.
  if (plan.spec.scope === "Namespace" && namespace !== plan.metadata.namespace)
    return waitsForKind(
      `kind ${kindName} of ${apiVersion} is outside the plan's namespace; set scope: Cluster on the plan`,
    );
  return namespace === undefined ? undefined : namespaceBlock(namespace, facts);
}

function namespaceBlock(
  name: string,
  { plan, stores, memory, ctx }: Omit<BlockFacts, "kind">,
): Why | undefined {
  const home = ctx.store(namespaces).get({ name })?.metadata;
  const own = stores.find(namespaces, { name });
  const pinnedUid = memory.pinnedNamespaceUid(name);
  const { block, pin } = judgeNamespace({
    name,
    progress: progressOf(plan),
    ...(home === undefined
      ? {}
      : { home: { uid: home.uid, isTerminating: home.deletionTimestamp !== undefined } }),
    pinnedUid,
    ...(own?.metadata.uid !== undefined && isLabelledBy(own, plan.metadata)
      ? { ownUid: own.metadata.uid }
      : {}),
  });
  memory.pinNamespace(name, pin);
  return block;
}

function progressOf(plan: InstallPlan): NamespaceFacts["progress"] {
  if (isInstalled(plan)) return "installed";
  return hasStarted(plan) ? "started" : "notStarted";
}

export interface NamespaceFacts {
  readonly name: string;
  readonly progress: "notStarted" | "started" | "installed";
  /** The namespace of this name that exists now. */
  readonly home?: { readonly uid: string; readonly isTerminating: boolean } | undefined;
  /** The one that the plan means. */
  readonly pinnedUid?: string | undefined;
  /** The one that the plan itself applied. */
  readonly ownUid?: string | undefined;
}

/** Whether the plan may write into the namespace, and which one it means from now on. */
export interface NamespaceVerdict {
  readonly block?: Why | undefined;
  readonly pin: string | undefined;
}

/**
 * While a plan is carried out a namespace is the one that it was at the beginning, or when we first saw it: under the same name
 * another client may have made one for another purpose, with other permissions in it. One that the plan itself made is always
 * meant, also in place of an earlier one.
 */
export function judgeNamespace(facts: NamespaceFacts): NamespaceVerdict {
  const { name, progress, home, pinnedUid, ownUid } = facts;
  const waits = (message: string): Why => ({ reason: reasons.waitingForNamespace, message });
  if (home === undefined) {
    const block = waits(`namespace ${name} does not exist yet`);
    return { block, pin: progress === "notStarted" ? undefined : pinnedUid };
  }
  const { uid, isTerminating } = home;
  if (isTerminating) return { block: waits(`namespace ${name} is being deleted`), pin: pinnedUid };
  const isMeant = pinnedUid === undefined || pinnedUid === uid || ownUid === uid;
  if (isMeant || progress !== "started") return { pin: uid };
  const message = `namespace ${name} was deleted and recreated by another client; create a new plan for it`;
  return { block: { reason: reasons.namespaceReplaced, message }, pin: pinnedUid };
}
