import { type ElasticsearchCluster, elasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type LicenseAssociation,
  licenseAssociation,
  licenseNames,
} from "@quartermaster/api/licensing";
import { sleepUntil } from "@quartermaster/license-selection";
import {
  byNamespace,
  type Context,
  type Controller,
  defineController,
  defineMemory,
  isControlledBy,
  type Live,
  type Outcome,
  reasons,
  type ReconcileEvent,
  settled,
  type System,
} from "@quartermaster/runtime";

import { KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import {
  allocationsOf,
  licensesFor,
  licensingStores,
  type LicensingStores,
  needOfOthers,
} from "../licensing-stores.ts";
import { silentSinceMs } from "../pool/capacity.ts";
import { LicensePool, type PoolLicense } from "../pool/license-pool.ts";
import { bind, type BoundNow } from "./bind.ts";
import { bindingWatches, groupsOf } from "./binding-watches.ts";
import { type Binding, type BindingSeen, decideBinding } from "./decide-binding.ts";

/** What the controller of bindings needs. */
export interface BindingOptions {
  readonly settings: LicensingSettings;
  readonly system: System;
  /** Only clusters of this namespace (default: all). */
  readonly namespace?: string;
}

/** What was last reported about a cluster, so that nothing is reported twice. */
const reported = defineMemory("reported", () => ({ reason: "" }));

/**
 * Chooses a licence for every ElasticsearchCluster and puts it into the cluster's namespace. One at a time: the associations are
 * the allocations, and two clusters must not get the last place of a licence.
 */
export function bindingController({ settings, system, namespace }: BindingOptions): Controller {
  const pool = new LicensePool();
  const known = new KnownClusters();
  return defineController<ElasticsearchCluster, never, never>(elasticsearchCluster.kind, {
    name: "license-bindings",
    concurrency: 1,
    writesStatus: false,
    ...(namespace === undefined ? {} : { namespace }),
    predicate: { changed: facts },
    owns: [clusterLicense.kind, licenseAssociation.kind],
    watches: bindingWatches(settings, known),
    reconcile: async (cluster, ctx) => {
      const nowMs = system.wallMs();
      const stores = licensingStores(ctx, settings, pool);
      known.prune(stores.clusters, groupsOf);
      const binding = decideBinding(observeBinding(cluster, stores), nowMs, settings.parameters);
      const now = boundNow(cluster, stores);
      if (isTaken(now, cluster)) report(ctx, takenEvent(cluster));
      else await bind(binding, { cluster, now, nowMs, ctx, enforcing: enforcingSource(now, stores) });
      report(ctx, eventOf(binding, cluster));
      return outcomeOf(binding, nowMs, settings);
    },
  });
}

/** What of a cluster the choice depends on. */
function facts(cluster: ElasticsearchCluster): unknown {
  const { metadata, status } = cluster;
  const { generation, labels, annotations, deletionTimestamp } = metadata;
  return [
    generation,
    labels,
    annotations,
    deletionTimestamp,
    status?.license,
    status?.engine,
    status?.capacity,
    silentSinceMs(cluster),
  ];
}

/** Reads what the choice for a cluster depends on. */
export function observeBinding(cluster: Live<ElasticsearchCluster>, stores: LicensingStores): BindingSeen {
  const { namespace, name } = cluster.metadata;
  const place = stores.namespaces.get({ name: namespace });
  return {
    cluster,
    pool: stores.pool,
    needOfOthers: (license) => needOfOthers(allocationsOf(stores, license), cluster),
    isSourceGone: isSourceGone(cluster, stores),
    hasPlace: ownSource(cluster, stores) !== undefined,
    namespaceLabels: place === undefined ? undefined : (place.metadata.labels ?? {}),
    licenses: licensesFor(stores, cluster),
    wishes: stores.associations
      .listBy(byNamespace, namespace)
      .filter(({ spec }) => spec.origin === "User" && spec.clusterRef.name === name),
  };
}

/** Whether the licence that a cluster has of the pool is no part of it any more. One that is there and faulty is not gone. */
function isSourceGone(cluster: Live<ElasticsearchCluster>, stores: LicensingStores): boolean {
  const own = ownSource(cluster, stores);
  if (own === undefined) return false;
  const { source, licenseUid } = own;
  // The pool may have moved to another namespace by a setting: of the former one nothing is known.
  if (source.namespace !== stores.licenseNamespace) return false;
  const from = stores.pool.licenses.find(({ license }) => license.metadata.name === source.name);
  return from === undefined || !from.nested.some(({ spec }) => spec.uid === licenseUid);
}

/** Where the license of a cluster was copied from, by our own association. */
function ownSource(
  cluster: Live<ElasticsearchCluster>,
  stores: LicensingStores,
):
  | {
      readonly source: NonNullable<LicenseAssociation["spec"]["source"]>;
      readonly licenseUid: string | undefined;
    }
  | undefined {
  const { association } = boundNow(cluster, stores);
  const { source, licenseRef } = association?.spec ?? {};
  if (association === undefined || source === undefined || !isControlledBy(association, cluster))
    return undefined;
  return { source, licenseUid: licenseRef?.uid };
}

/** The EnterpriseLicense behind a binding, if it enforces its limits. */
function enforcingSource({ association }: BoundNow, stores: LicensingStores): PoolLicense | undefined {
  const { source } = association?.spec ?? {};
  if (source?.namespace !== stores.licenseNamespace) return undefined;
  return stores.pool.licenses.find(
    ({ license: { metadata, spec } }) =>
      metadata.name === source.name && spec.capacityPolicy?.mode === "Enforce",
  );
}

function boundNow(
  { metadata: { namespace, name } }: Live<ElasticsearchCluster>,
  stores: LicensingStores,
): BoundNow {
  const names = licenseNames(name);
  return {
    copy: stores.licenses.get({ namespace, name: names.pool }),
    association: stores.associations.get({ namespace, name: names.association }),
  };
}

/** Whether somebody else has an object of a name that we need. It is left alone. */
function isTaken({ copy, association }: BoundNow, cluster: Live<ElasticsearchCluster>): boolean {
  return [copy, association].some(
    (object: Live<ClusterLicense | LicenseAssociation> | undefined) =>
      object !== undefined && !isControlledBy(object, cluster),
  );
}

function takenEvent({ metadata: { name } }: Live<ElasticsearchCluster>): ReconcileEvent {
  const { pool, association } = licenseNames(name);
  return {
    type: "Warning",
    reason: reasons.nameTaken,
    action: "BindLicense",
    note: `ClusterLicense ${pool} or LicenseAssociation ${association} exists and does not belong to the cluster.`,
  };
}

const notes: Readonly<Partial<Record<string, string>>> = {
  NoLicenseAvailable: "No licence can be used for the cluster.",
  NoMatchingLicense:
    "No licence of the type that the label asks for can be used; the cluster keeps what it has.",
  DowngradeBlocked:
    "The cluster keeps its licence: a lower type needs the annotation license.k8s.elastic.co/allow-downgrade.",
  DesiredLicenseInvalid: "The label k8s.elastic.co/desired-license has an unknown value; nothing is changed.",
  LicenseExpired: "The licence of the cluster expired and there is no other one.",
  TLSRequired: "The cluster keeps its licence: under basic its nodes need transport TLS.",
};

function eventOf(
  { selection: { reason, isPinConflict, verdicts } }: Binding,
  { metadata }: Live<ElasticsearchCluster>,
): ReconcileEvent | undefined {
  const event = { type: "Warning", action: "ChooseLicense" } as const;
  if (isPinConflict)
    return {
      ...event,
      reason: "PinConflict",
      note: "Several associations of the cluster are pinned: pins are ignored.",
    };
  if (reason === "NoLicenseAvailable" && verdicts.includes("ClusterNotRunning")) return undefined;
  if (reason === "NoLicenseAvailable" && verdicts.includes("CapacityExceeded"))
    return {
      ...event,
      reason: "CapacityExceeded",
      note: `No licence has room for cluster ${metadata.name}.`,
    };
  const note = notes[reason];
  return note === undefined ? undefined : { ...event, reason, note };
}

/** Once per change. */
function report(ctx: Context, event: ReconcileEvent | undefined): void {
  const last = ctx.memory(reported);
  if (event !== undefined && last.reason !== event.reason) ctx.events.record(event);
  last.reason = event?.reason ?? "";
}

function outcomeOf(
  { selection: { wakeAtMs } }: Binding,
  nowMs: number,
  { parameters }: LicensingSettings,
): Outcome {
  return settled(sleepUntil(wakeAtMs, nowMs, parameters));
}
