import { openSearchCluster } from "@quartermaster/api";
import {
  type Context,
  defineDeletion,
  type Deletion,
  isControlledBy,
  type Kind,
  type Live,
  type Rule,
  settled,
  type Verdict,
  waiting,
} from "@quartermaster/runtime";
import { namespaces, pods, statefulSets } from "@quartermaster/runtime/kinds";

import { handoverMessage } from "../handover/inherit-children.ts";
import { belongsTo, objectsOf } from "../handover/predecessor.ts";
import { type ClusterObject, readCluster } from "../model/read-cluster.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { clusterKey } from "../observe.ts";
import { byCluster, ownerLabels } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import { keptObjects } from "./protection-lane.ts";

/** An object that is left. */
export interface LeftObject {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
  /** As it was when it counted as the cluster's; left out for one that loses its protection first, which changes it. */
  readonly resourceVersion?: string | undefined;
  readonly isTerminating: boolean;
}

export interface Left {
  readonly cluster: SearchCluster;
  readonly statefulSets: readonly LeftObject[];
  readonly pods: readonly LeftObject[];
  /** Claims, CA and passwords: what has no owner reference. */
  readonly kept: readonly LeftObject[];
  /** `kubectl delete --cascade=orphan`. */
  readonly isOrphaned: boolean;
  readonly isNamespaceTerminating: boolean;
  /** Objects that one of the same name in the newer group has to take over; undefined where there is no such object. */
  readonly leftToHeir: readonly PresentObject[] | undefined;
}

type DeletionRule = Rule<Left, SearchAction>;

const pauseMs = 10_000;

function done(actions: readonly SearchAction[] = []): Verdict<SearchAction> {
  return { actions, outcome: settled() };
}

/** The namespace takes everything with it. */
const namespaceTerminating: DeletionRule = {
  name: "namespaceTerminating",
  decide: ({ isNamespaceTerminating }) => (isNamespaceTerminating ? done() : undefined),
};

/** Another object acts for the cluster: nothing of it is deleted with this one, also not by owner references. */
const superseded: DeletionRule = {
  name: "superseded",
  decide: ({ leftToHeir }) => {
    if (leftToHeir === undefined) return undefined;
    if (leftToHeir.length === 0) return done();
    const why = { reason: searchReasons.handover, message: handoverMessage(leftToHeir) };
    return { actions: [], outcome: waiting(why, pauseMs) };
  },
};

/** Everything stays and belongs to no one. */
const orphaned: DeletionRule = {
  name: "orphaned",
  decide: ({ isOrphaned, kept }) =>
    isOrphaned
      ? done(kept.map(({ kind, name, uid }) => ({ kind: "release", resource: kind, name, uid })))
      : undefined,
};

const setsRemain: DeletionRule = {
  name: "setsRemain",
  decide: ({ statefulSets: sets }) => {
    if (sets.length === 0) return undefined;
    return {
      actions: sets.filter(({ isTerminating }) => !isTerminating).map(deletionOf),
      outcome: waiting(
        { reason: "Deleting", message: `Nodes are shut down: ${sets.map(({ name }) => name).join(", ")}.` },
        pauseMs,
      ),
    };
  },
};

const podsRemain: DeletionRule = {
  name: "podsRemain",
  decide: ({ pods: remaining }) =>
    remaining.length === 0
      ? undefined
      : {
          actions: [],
          outcome: waiting(
            {
              reason: "Deleting",
              message: `Waiting for pods to end: ${remaining.map(({ name }) => name).join(", ")}.`,
            },
            pauseMs,
          ),
        },
};

/** Volumes, CA and passwords are kept or deleted together: data cannot be opened without the others. */
const keptRemain: DeletionRule = {
  name: "keptRemain",
  decide: ({ cluster, kept }) =>
    // A protected cluster is not deleted through its own object, but with its definition, say: then the data stays.
    cluster.whenDeleted === "Retain" || cluster.isDeletionProtected
      ? done()
      : done(kept.filter(({ isTerminating }) => !isTerminating).map(deletionOf)),
};

/** Of an object as it was seen: one that another client took its labels or owner from meanwhile is not the cluster's any more. */
function deletionOf({ kind, name, uid, resourceVersion }: LeftObject): SearchAction {
  return { kind: "delete", resource: kind, name, uid, resourceVersion };
}

/** Nodes first, then their leftovers. The engine is not queried: one that does not respond must not block the deletion. */
export const deletionRules: readonly DeletionRule[] = [
  namespaceTerminating,
  superseded,
  orphaned,
  setsRemain,
  podsRemain,
  keptRemain,
];

/** How a cluster goes; `forget` ends what is kept of it in memory. */
export function clusterDeletion({
  isOlderGroup,
  forget,
  perform,
}: {
  readonly isOlderGroup: boolean;
  readonly forget: (uid: string) => void;
  readonly perform: (action: SearchAction, ctx: Context, left: Left) => Promise<void>;
}): Deletion<ClusterObject, SearchAction> {
  return defineDeletion({
    observe: async (object: Live<ClusterObject>, ctx) => {
      forget(object.metadata.uid);
      const left = await observeLeft(object, ctx);
      return { ...left, leftToHeir: isOlderGroup ? await readLeftToHeir(object, ctx) : undefined };
    },
    rules: deletionRules,
    perform,
  });
}

/** Read live: the other object may be newer than what the watch shows, and a StatefulSet too. */
async function readLeftToHeir(
  object: Live<ClusterObject>,
  ctx: Context,
): Promise<readonly PresentObject[] | undefined> {
  const { namespace, name } = object.metadata;
  const heir = await ctx.client.find(openSearchCluster.kind, { namespace, name }, { isMetadataOnly: true });
  if (heir === undefined) return undefined;
  const labelSelector = `${ownerLabels.cluster}=${name}`;
  const sets = await Array.fromAsync(ctx.client.list(statefulSets, { namespace, labelSelector }));
  const unseen = sets.filter((set) => belongsTo(set, object)).map((set) => presentObject(statefulSets, set));
  const seen = objectsOf(object, ctx).filter(({ kind }) => kind.kind !== statefulSets.kind);
  return [...unseen, ...seen];
}

async function observeLeft(object: Live<ClusterObject>, ctx: Context): Promise<Omit<Left, "leftToHeir">> {
  const { cluster } = readCluster(object);
  const owned = (kind: Kind, isOurs: (live: Live) => boolean): readonly LeftObject[] =>
    ctx
      .store(kind)
      .listBy(byCluster, clusterKey(cluster))
      .filter((live) => isOurs(live))
      .map((live) => leftObject(kind, live));
  const hasUid = (live: Live): boolean => live.metadata.labels?.[ownerLabels.uid] === cluster.uid;
  // The garbage collector may have finished before us: its finalizer is removed then, and so are the owner references.
  const disowned = owned(statefulSets, (live) => hasUid(live) && !isControlledBy(live, object));
  const namespace = await ctx.client.find(namespaces, { name: cluster.namespace }, { isMetadataOnly: true });
  return {
    cluster,
    statefulSets: owned(statefulSets, (live) => isControlledBy(live, object)),
    pods: owned(pods, hasUid),
    kept: keptObjects(cluster, ctx).map(({ isProtected, resourceVersion, ...live }) =>
      isProtected ? live : { ...live, resourceVersion },
    ),
    isOrphaned: (object.metadata.finalizers ?? []).includes("orphan") || disowned.length > 0,
    isNamespaceTerminating: namespace?.metadata.deletionTimestamp !== undefined,
  };
}

function leftObject(kind: Kind, { metadata }: Live): LeftObject {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  return { kind, name, uid, resourceVersion, isTerminating: deletionTimestamp !== undefined };
}
