import type { InstallPlan } from "@quartermaster/api";
import {
  appliedForm,
  appliedManifest,
  fieldManager,
  identityOf,
  planIdLabel,
  refusalText,
  type Writable,
} from "@quartermaster/install-plan/offline";
import { ApiError, classify, type Kind, type KubeObject } from "@quartermaster/runtime";

import { changesBetween } from "../render/changes.ts";
import type { ObjectDiff } from "../render/diff-text.ts";
import type { Cluster } from "./connect.ts";
import type { PlanObject } from "./plan-objects.ts";

/** Where to ask, and for which plan. The cluster's client speaks as the plan's service account. */
export interface DiffRequest {
  readonly plan: InstallPlan;
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  /** Namespaces that the plan itself makes. */
  readonly ownNamespaces: ReadonlySet<string>;
}

/** What applying one object would do. The server is queried with a dry run of exactly what the operator would send. */
export async function diffMember(member: PlanObject, request: DiffRequest): Promise<ObjectDiff> {
  const { plan, cluster, signal } = request;
  const kind = await servedKind(member, request);
  const writable = writableOf(member, kind, plan);
  const about = { object: writable.identity, stage: member.stage };
  if (kind === undefined) return { ...about, action: "deferred", changes: [] };
  try {
    const live = await cluster.client.find(kind, writable.manifest.metadata, { signal });
    const manifest = appliedManifest(writable, { plan, revision: plan.status?.revision ?? 1 }, live);
    const options = { fieldManager, force: true, dryRun: true, signal };
    const after = await cluster.client.apply(kind, manifest, options);
    const isSecret = kind.group === "" && kind.kind === "Secret";
    return { ...about, ...judged(live, changesBetween(live, after, { isSecret })) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isEarly = request.ownNamespaces.has(writable.identity.namespace ?? "");
    return { ...about, changes: [], ...refused(error, { isEarly }) };
  }
}

/** Throws what says nothing about the object. */
function refused(
  error: ApiError,
  { isEarly }: { readonly isEarly: boolean },
): Pick<ObjectDiff, "action" | "message"> {
  if (isEarly && error.class === "notFound") return { action: "deferred" };
  if (!refusals.has(error.class)) throw error;
  return { action: "refused", message: refusalText(error) };
}

const refusals: ReadonlySet<string> = new Set(["invalid", "forbidden", "notFound", "conflict"]);

function judged(
  live: KubeObject | undefined,
  changes: ObjectDiff["changes"],
): Pick<ObjectDiff, "action" | "changes" | "message"> {
  if (live === undefined) return { action: "create", changes: [] };
  if (changes.length === 0) return { action: "none", changes };
  const hasOwnerLabels = live.metadata.labels?.[planIdLabel] !== undefined;
  return { action: "update", changes, ...(hasOwnerLabels ? {} : { message: foreign }) };
}

const foreign = "not created by a plan; lifecycle.adoption decides whether this plan may take it over";

/** The kind as the server has it; undefined while it is not served. */
export async function servedKind(
  { object }: PlanObject,
  { cluster, signal }: Pick<DiffRequest, "cluster" | "signal">,
): Promise<Kind | undefined> {
  const wanted = { apiVersion: String(object["apiVersion"]), kind: String(object["kind"]) };
  try {
    return await cluster.discovery.find(wanted, { signal });
  } catch (error) {
    if (classify(error) === "notFound") return undefined;
    throw error;
  }
}

/** As the operator has it: an empty namespace is the plan's own, kinds of the cluster have none. */
export function writableOf(
  { object, lifecycle }: PlanObject,
  kind: Kind | undefined,
  plan: InstallPlan,
): Writable {
  const written = namespaceOf(object);
  const own = written === "" ? plan.metadata.namespace : written;
  const { manifest } = appliedForm(object, kind?.scope === "Cluster" ? undefined : own);
  return {
    manifest,
    identity: identityOf(manifest),
    lifecycle,
  };
}

function namespaceOf({ metadata }: PlanObject["object"]): string {
  const isNamed = typeof metadata === "object" && metadata !== null && "namespace" in metadata;
  return isNamed && typeof metadata.namespace === "string" ? metadata.namespace : "";
}
