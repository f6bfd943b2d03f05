import { installPlan, type InstallPlan } from "@quartermaster/api";
import {
  byNamespace,
  type Context,
  inParallel,
  type ReadStore,
  reviewAccess,
  serviceAccountSubject,
  type Why,
} from "@quartermaster/runtime";

import { type Author, authorOf } from "../account/account.ts";
import { hasStarted, isInstalled } from "../model/plan-status.ts";
import { describePermission, type Permission } from "../permissions/permission.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { type Muted, PlanGraph } from "./plan-graph.ts";
import { type Replacement, replacementOf } from "./replacement.ts";
import { SlotSet } from "./slot-set.ts";
import { replacesLimit, wantedBy } from "./wanted-by.ts";

export interface Takeover {
  /** Whose permission counts: the author of the plan or, when none is recorded, its account. */
  readonly subject: string;
  /** Permissions without which the plan takes over from no one. Empty once it has started: they were reviewed before. */
  readonly missing: readonly Permission[];
  /** Superseded plans beyond `historyLimit` that may be deleted, and those that have to stay. */
  readonly forgettable: readonly InstallPlan[];
  readonly kept: readonly InstallPlan[];
}

/** How a plan relates to those before and after it, without what other authors may not request. */
export interface AuthorizedReplacement {
  readonly replacement: Replacement;
  readonly takeover: Takeover;
}

/**
 * Taking over from a plan ends it, and forgetting one deletes it: both need the permission to delete it. The plan itself is
 * reviewed for what it replaces, and other plans for what they want of this one, so that a plan without the permission
 * neither takes anything nor blocks one that has it.
 */
export async function authorizedReplacement(
  plan: InstallPlan,
  graph: PlanGraph,
  ctx: Context,
): Promise<AuthorizedReplacement> {
  const permissions = new DeletePermissions(ctx, plan.metadata.namespace ?? "");
  graph.put(plan);
  const muted = await mutedFor(plan, graph, permissions);
  const replacement = graph.without(muted, () => replacementOf(plan, graph));
  const taken = hasStarted(plan)
    ? []
    : replacement.predecessors.filter((before) => before.plan !== undefined);
  const past = pastBeyondLimit(plan, replacement);
  const denied = await permissions.denied(
    plan,
    [...taken, ...past.map(({ metadata }) => metadata)].map(({ name }) => name),
  );
  const isDenied = ({ metadata }: InstallPlan): boolean => denied.has(metadata.name);
  const missing = taken
    .filter(({ name }) => denied.has(name))
    .map(({ name }) => permissions.permissionFor(name));
  return {
    replacement,
    takeover: {
      subject: subjectOf(plan)?.user ?? "",
      missing,
      forgettable: past.filter((each) => !isDenied(each)),
      kept: past.filter(isDenied),
    },
  };
}

/** Beyond the limit no one goes back to them. */
function pastBeyondLimit(plan: InstallPlan, { history }: Replacement): readonly InstallPlan[] {
  if (!isInstalled(plan)) return [];
  return history
    .slice(plan.spec.historyLimit)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Plans that claim this one, or want what it wants, and whose authors may not delete what they name. */
async function mutedFor(plan: InstallPlan, graph: PlanGraph, permissions: DeletePermissions): Promise<Muted> {
  const claims = new Set<string>();
  for (const other of graph.claimantsOf(plan.metadata.uid).filter((each) => isUnconfirmedClaim(each, plan)))
    if ((await permissions.denied(other, [plan.metadata.name])).size > 0)
      claims.add(other.metadata.uid ?? "");
  return { claims, settings: await mutedFields(plan, graph, permissions) };
}

async function mutedFields(
  plan: InstallPlan,
  graph: PlanGraph,
  permissions: DeletePermissions,
): Promise<SlotSet> {
  const muted = new SlotSet();
  const wanted = plan.spec.replaces === undefined || hasStarted(plan) ? [] : wantedBy(plan, graph);
  // Too many are an issue of the plan: it takes over from none of them.
  if (wanted.length === 0 || wanted.length > replacesLimit) return muted;
  const { name: own } = plan.metadata;
  const concerned = new Set([...wanted, own]);
  // A copy: another reconcile may change the graph while the server is queried.
  const desiring = [...graph.plans].filter((other) => other.metadata.name !== own && isDesired(other));
  for (const other of desiring)
    if (!(await mayDesire(other, concerned, permissions))) muted.add(graph.slotOf(other.metadata.name));
  return muted;
}

/** It requests a handover from this plan, which has not agreed yet. */
function isUnconfirmedClaim({ metadata, status }: InstallPlan, plan: InstallPlan): boolean {
  if (plan.status?.replacedBy?.uid === metadata.uid) return false;
  return status?.replaces?.some(({ uid }) => uid === plan.metadata.uid) ?? false;
}

/** Only its spec names what it replaces: once its status does, the request is made. */
function isDesired(other: InstallPlan): boolean {
  return other.spec.replaces !== undefined && other.status?.replaces === undefined && !hasStarted(other);
}

/**
 * Whether the author of a plan may delete what it names of the plans that are concerned. A selector counts only where the author may
 * delete any plan of the namespace: what it matches is not known beforehand.
 */
async function mayDesire(
  plan: InstallPlan,
  concerned: ReadonlySet<string>,
  permissions: DeletePermissions,
): Promise<boolean> {
  const { plans = [], selector } = plan.spec.replaces ?? {};
  const isInherited = concerned.has(plan.metadata.name);
  const requested = plans.map(({ name }) => name).filter((name) => isInherited || concerned.has(name));
  if (selector === undefined && requested.length === 0) return true;
  if (await permissions.mayDeleteAny(plan)) return true;
  return selector === undefined && (await permissions.denied(plan, requested)).size === 0;
}

/** So many names are queried about for one subject in one reconcile; more need the permission for the whole namespace. */
const namesLimit = 50;

/** Reviews whether authors may delete plans of one namespace, each review once per reconcile. */
class DeletePermissions {
  readonly #ctx: Context;
  readonly #namespace: string;
  readonly #responses = new Map<string, Promise<boolean>>();
  readonly #names = new Map<string, Set<string>>();

  constructor(ctx: Context, namespace: string) {
    this.#ctx = ctx;
    this.#namespace = namespace;
  }

  permissionFor(name: string): Permission {
    return { ...deletePlans, namespace: this.#namespace, name };
  }

  /** Those of the names that the subject of the plan may not delete. */
  async denied(plan: InstallPlan, names: readonly string[]): Promise<ReadonlySet<string>> {
    if (names.length === 0 || (await this.mayDeleteAny(plan))) return new Set();
    const subject = subjectOf(plan);
    const responses = await inParallel(names, 16, async (name) => await this.#request(subject, name));
    return new Set(names.filter((_name, index) => responses[index] !== true));
  }

  async mayDeleteAny(plan: InstallPlan): Promise<boolean> {
    return await this.#request(subjectOf(plan));
  }

  async #request(subject: Author | undefined, name?: string): Promise<boolean> {
    if (subject === undefined) return false;
    const who = JSON.stringify([subject.user, subject.groups]);
    if (name !== undefined && !this.#isWithinLimit(who, name)) return false;
    const question = `${who}/${name ?? ""}`;
    const known = this.#responses.get(question);
    if (known !== undefined) return await known;
    const { client, signal } = this.#ctx;
    const permission = {
      ...deletePlans,
      namespace: this.#namespace,
      name,
    };
    const planVerdict = reviewAccess(client, permission, { signal, subject });
    this.#responses.set(question, planVerdict);
    return await planVerdict;
  }

  #isWithinLimit(who: string, name: string): boolean {
    const requested = this.#names.get(who) ?? new Set();
    this.#names.set(who, requested);
    if (requested.size < namesLimit) requested.add(name);
    return requested.has(name);
  }
}

const deletePlans = { verb: "delete", group: "install.quartermaster.dev", resource: "installplans" } as const;

/** Undefined when the author cannot be read: no one has the permission then. */
function subjectOf(plan: InstallPlan): Author | undefined {
  const author = authorOf(plan);
  if (author === "unreadable") return undefined;
  const { namespace = "" } = plan.metadata;
  return author ?? serviceAccountSubject({ namespace, name: plan.spec.serviceAccountName });
}

/** All plans of the plan's namespace, itself included: only they can replace each other. */
export function siblingsOf({ metadata: { namespace = "" } }: InstallPlan, ctx: Context): PlanGraph {
  const store = ctx.store(installPlan.kind);
  const graphs = graphsOf.get(store) ?? new Map<string, PlanGraph>();
  graphsOf.set(store, graphs);
  const known = graphs.get(namespace);
  const graph = known === undefined || known.isWorn ? new PlanGraph() : known;
  graphs.set(namespace, graph);
  graph.sync(store.listBy(byNamespace, namespace));
  return graph;
}

/** Kept from one reconcile to the next, so that a change of one plan costs no more than that change. */
const graphsOf = new WeakMap<ReadStore<InstallPlan>, Map<string, PlanGraph>>();

const namedAtMost = 5;

/** Why the plan may not take over from the plans that it names; undefined when it may. */
export function whyNoTakeover({ takeover }: Seen): Why | undefined {
  if (takeover === undefined || takeover.missing.length === 0) return undefined;
  const { subject, missing } = takeover;
  const rest = missing.length > namedAtMost ? `; and ${missing.length - namedAtMost} more` : "";
  const permissions = `${missing.slice(0, namedAtMost).map(describePermission).join("; ")}${rest}`;
  const message = `To take over from a plan, the author of the new plan, or else its service account, must be allowed to delete it: ${subject} may not ${permissions}.`;
  return { reason: reasons.permissionsMissing, message: message.slice(0, 1024) };
}
