import type { InstallPlan } from "@quartermaster/api";
import {
  classify,
  type Client,
  type Context,
  type Discovery,
  type Kind,
  type KubeObject,
  reviewAccess,
} from "@quartermaster/runtime";

import { definedKind, servedVersions } from "../crds/established-kinds.ts";
import { isCrd } from "../manifest/provided-kinds.ts";
import { describeIdentity, identityOf } from "../model/identity.ts";
import { isLabelledBy } from "../ownership/owner-labels.ts";
import { type PlanAction, warn } from "../plan-action.ts";
import type { Leftover } from "../seen.ts";
import type { Entry } from "./inventory.ts";

/** An object that may hold what others put there. */
export interface Holder {
  readonly entry: Pick<Entry, "identity"> & { readonly lifecycle: Pick<Entry["lifecycle"], "protectData"> };
  readonly live: KubeObject;
  /** Whose the object is, or who would take it away: what has this plan's owner labels is no reason to keep it. */
  readonly plan: Pick<InstallPlan, "metadata">;
  /** Speaks as the account of the plan that is at work: what it may not read is not named. */
  readonly account: Client;
  /** Uids of objects that stay although they have the plan's owner labels: they must not go with what holds them. */
  readonly staying?: ReadonlySet<string>;
}

/** Why deleting the object would destroy what the plan did not make; undefined when it would not. */
export async function protectionOf(
  { entry, live, plan, account, staying = new Set() }: Holder,
  ctx: Context,
  discovery: Discovery,
): Promise<string | undefined> {
  const isForeign = (object: KubeObject): boolean =>
    !isLabelledBy(object, plan.metadata) || staying.has(object.metadata.uid ?? "");
  if (!entry.lifecycle.protectData) return undefined;
  if (entry.identity.kind === "PersistentVolumeClaim") return "it contains data";
  if (isCrd(entry.identity)) return await objectsOfOthers(live, { isForeign, account, ctx });
  if (entry.identity.apiVersion === "v1" && entry.identity.kind === "Namespace")
    return await contentOfOthers(live.metadata.name, { isForeign, account, ctx, discovery });
  return undefined;
}

export function staysBecause(identity: Entry["identity"], protectedBy: string): string {
  return `${describeIdentity(identity)} is kept: ${protectedBy}.`;
}

interface Search extends Reader {
  readonly isForeign: (object: KubeObject) => boolean;
  readonly discovery: Discovery;
}

interface Reader {
  readonly account: Client;
  readonly ctx: Context;
}

/** A namespace takes everything in it along. What the cluster itself puts into each, and what others own, does not count. */
async function contentOfOthers(namespace: string, search: Search): Promise<string | undefined> {
  const { ctx, discovery } = search;
  const kinds = (await discovery.all({ signal: ctx.signal })).filter(
    ({ group, kind, scope, verbs }) =>
      scope === "Namespaced" && verbs.includes("list") && !passing.has(`${group}/${kind}`),
  );
  for (const kind of kinds) {
    const foreign = await foreignIn(namespace, kind, search);
    if (foreign === "hidden") return hidden(kind);
    if (foreign === undefined) continue;
    const { name } = foreign.metadata;
    return (await mayRead(kind, foreign, search))
      ? `${kind.kind} ${name} and possibly others in it do not belong to the plan`
      : "it contains objects that do not belong to the plan";
  }
  return undefined;
}

/** The first object of others, however many of the plan's own come before it. */
async function foreignIn(
  namespace: string,
  kind: Kind,
  { isForeign, ctx, discovery }: Search,
): Promise<KubeObject | "hidden" | undefined> {
  try {
    for await (const object of ctx.client.list(kind, { namespace, isMetadataOnly: true }))
      if (isForeign(object) && !isOfTheCluster(object)) return object;
    return undefined;
  } catch (error) {
    if (classify(error) === "forbidden") return "hidden";
    // A kind whose definition went just now, with this very plan perhaps, is still listed by discovery: it holds nothing.
    if (classify(error) !== "notFound") throw error;
    discovery.invalidate();
    return undefined;
  }
}

/** Made by controllers for what is there, without an owner reference that says so, and deleted with it. */
const passing: ReadonlySet<string> = new Set([
  "/Event",
  "events.k8s.io/Event",
  "/Endpoints",
  "discovery.k8s.io/EndpointSlice",
  "coordination.k8s.io/Lease",
  "metrics.k8s.io/PodMetrics",
]);

function isOfTheCluster({ kind, metadata }: KubeObject): boolean {
  const isDefault =
    (kind === "ServiceAccount" && metadata.name === "default") ||
    (kind === "ConfigMap" && metadata.name === "kube-root-ca.crt");
  return isDefault || (metadata.ownerReferences ?? []).length > 0 || metadata.deletionTimestamp !== undefined;
}

/** A CRD takes every object of its kind with it. A doubt counts as a yes. */
async function objectsOfOthers(
  crd: KubeObject,
  { isForeign, ...reader }: Omit<Search, "discovery">,
): Promise<string | undefined> {
  const [version] = servedVersions(crd);
  const kind = version === undefined ? undefined : definedKind(crd, version);
  if (kind === undefined) return undefined;
  try {
    for await (const object of reader.ctx.client.list(kind, { isMetadataOnly: true })) {
      if (!isForeign(object)) continue;
      return (await mayRead(kind, object, reader))
        ? `${object.metadata.name} and possibly others do not belong to the plan`
        : "objects of its kind exist that do not belong to the plan";
    }
    return undefined;
  } catch (error) {
    if (classify(error) === "notFound") return undefined;
    if (classify(error) === "forbidden") return hidden(kind);
    throw error;
  }
}

/** Whether the account may read the object, so that its name may be shown. */
async function mayRead(
  { group, plural }: Kind,
  { metadata: { namespace, name } }: KubeObject,
  { account, ctx: { signal } }: Reader,
): Promise<boolean> {
  try {
    return await reviewAccess(account, { verb: "get", group, resource: plural, namespace, name }, { signal });
  } catch (error) {
    // The operator may not impersonate the account, or it is deleted.
    if (classify(error) === "forbidden") return false;
    throw error;
  }
}

/** A doubt counts as a yes here too. */
function hidden({ plural, group }: Kind): string {
  return `the operator may not list ${group === "" ? plural : `${plural}.${group}`} and does not know whether others have any`;
}

/** Decision on leftovers: deleted, or only released where their plan says so or others have something in them. */
export function removals(open: readonly Leftover[]): readonly PlanAction[] {
  const kept = open.flatMap(({ live, protectedBy }) =>
    protectedBy === undefined ? [] : [staysBecause(identityOf(live), protectedBy)],
  );
  return [...warn({ reason: "Protected", warnings: kept }), ...open.map(removal)];
}

function removal({ kind, live, cleanup, protectedBy }: Leftover): PlanAction {
  const target = { kind, live };
  return cleanup === "Orphan" || protectedBy !== undefined
    ? { kind: "release", target }
    : { kind: "delete", target, propagation: "Background" };
}
