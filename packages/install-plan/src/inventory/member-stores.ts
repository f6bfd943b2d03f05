import {
  ApiError,
  type Context,
  type InformerRequest,
  isJsonObject,
  type JsonObject,
  type Kind,
  type KubeObject,
  nameOfKind,
  type ObjectRef,
  type Tracked,
} from "@quartermaster/runtime";

import { type KindTable, reachableKind } from "../manifest/kind-table.ts";
import { isLabelledBy, planIdLabel, type PlanRef } from "../ownership/owner-labels.ts";
import type { Entry } from "./inventory.ts";
import { describeUnwatchable } from "./unwatchable-kinds.ts";

/** The labelled objects of the kinds that a reconcile deals with. */
export interface MemberStores {
  find(kind: Kind, ref: ObjectRef): KubeObject | undefined;
  list(kind: Kind): readonly KubeObject[];
  /** False while nothing is known about the kind's objects. */
  isWatched(kind: Kind): boolean;
  /** Those that the operator may not watch. */
  readonly forbidden: readonly Kind[];
}

/** As `trackPlanKinds`. Throws when one of them may not be watched: what cannot be seen must not be taken for deleted. */
export async function trackKinds(ctx: Context, kinds: readonly Kind[]): Promise<MemberStores> {
  const stores = await trackPlanKinds(ctx, kinds);
  if (stores.forbidden.length === 0) return stores;
  throw unwatchable(stores.forbidden);
}

/** The error for kinds that the operator itself may not see. */
function unwatchable(kinds: readonly Kind[]): ApiError {
  return new ApiError(describeUnwatchable(kinds), { class: "forbidden", mayHaveActed: false });
}

/**
 * Watches the kinds and waits for their first pictures: an object that is merely not seen yet must not be taken for absent.
 * Of those in `later` it does not wait for any; see `isWatched`.
 */
export async function trackPlanKinds(
  ctx: Context,
  kinds: readonly Kind[],
  later: readonly Kind[] = [],
): Promise<MemberStores> {
  const tracked = new Map<string, Tracked>();
  const track = (kind: Kind): Tracked => {
    const known = tracked.get(nameOfKind(kind)) ?? ctx.track(watchFor(kind));
    tracked.set(nameOfKind(kind), known);
    return known;
  };
  const awaited = kinds.map(track);
  for (const kind of later) track(kind);
  for (const { firstResponse } of awaited) await firstResponse;
  return {
    find: (kind, ref) => tracked.get(nameOfKind(kind))?.store.get(ref),
    list: (kind) => tracked.get(nameOfKind(kind))?.store.list() ?? [],
    isWatched: (kind) => tracked.get(nameOfKind(kind))?.store.isSynced ?? false,
    forbidden: [...kinds, ...later].filter((kind) => tracked.get(nameOfKind(kind))?.isForbidden),
  };
}

/** How objects of plans are watched: only labelled ones, with who owns which field, without their bulk. */
export function watchFor(kind: Kind): InformerRequest {
  return { kind, labelSelector: planIdLabel, keepManagedFields: true, projection: objectView };
}

/**
 * The part of an object that is kept: owner labels, ownership of fields, status and what health needs of the spec. The values of Secrets
 * and ConfigMaps, the schemas of CRDs and pod templates are dropped: changes show in the ownership of fields.
 */
const objectView = { name: "plan", project: projectObject };

function projectObject(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...content } = object;
  const kept = keptContent(kind, content);
  return { apiVersion, kind, metadata: withoutBulk(metadata), ...kept };
}

function keptContent(kind: string, content: JsonObject): JsonObject {
  const { data: _data, binaryData: _binary, stringData: _string, spec, ...rest } = content;
  if (!isJsonObject(spec)) return rest;
  if (kind === "CustomResourceDefinition")
    return { ...rest, spec: { ...spec, versions: bareVersions(spec) } };
  const { template: _template, ...keptSpec } = spec;
  return { ...rest, spec: keptSpec };
}

function bareVersions({ versions }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(versions)) return [];
  return versions.filter(isJsonObject).map(({ name, served, storage, subresources }) => ({
    name,
    served,
    storage,
    subresources,
  }));
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function withoutBulk(metadata: KubeObject["metadata"]): KubeObject["metadata"] {
  const { annotations } = metadata;
  if (annotations?.[lastApplied] === undefined) return metadata;
  const { [lastApplied]: _dropped, ...kept } = annotations;
  return { ...metadata, annotations: kept };
}

/** An object of an inventory that is there and has a plan's owner labels. */
export type LabelledObject<E extends Entry = Entry> = E & {
  readonly kind: Kind;
  readonly live: KubeObject;
};

/** Those of the entries that are there and still have the owner labels of the plan, in their order. */
export async function labelledObjects<E extends Entry>(
  entries: readonly E[],
  owner: PlanRef,
  { ctx, kinds }: { readonly ctx: Context; readonly kinds: KindTable },
): Promise<readonly LabelledObject<E>[]> {
  const served = entries.flatMap((entry) => {
    const kind = reachableKind(kinds, entry.identity);
    return kind === undefined ? [] : [{ ...entry, kind }];
  });
  const stores = await trackKinds(
    ctx,
    served.map(({ kind }) => kind),
  );
  return served.flatMap((entry) => {
    const live = stores.find(entry.kind, entry.identity);
    return live !== undefined && isLabelledBy(live, owner) ? [{ ...entry, live }] : [];
  });
}
