import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  type LicenseAssociation,
  licenseAssociation,
  licenseNames,
} from "@quartermaster/api/licensing";
import { sleepUntil } from "@quartermaster/license-selection";
import {
  type Context,
  type Controller,
  defineController,
  defineMemory,
  isControlledBy,
  type Live,
  mappedFrom,
  type MappedSource,
  type ObjectRef,
  type Outcome,
  reasons,
  type ReconcileEvent,
  settled,
  type System,
} from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import { generationOnly, KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { licensingStores, poolLicenses, poolSecrets } from "../licensing-stores.ts";
import { silentSinceMs } from "../pool/capacity.ts";
import { LicensePool, signatureSecrets } from "../pool/license-pool.ts";
import { bind, type BoundNow } from "./bind.ts";
import { type Binding, decideBinding } from "./decide-binding.ts";
import { boundNow, enforcingSource, observeBinding } from "./observe-binding.ts";

export interface BindingOptions {
  readonly settings: LicensingSettings;
  readonly system: System;
  /** Only clusters of this namespace (default: all). */
  readonly namespace?: string | undefined;
}

/** The last report about a cluster, so that nothing is reported twice. */
const reported = defineMemory("reported", () => ({ reason: "" }));

/**
 * Chooses a license for every ElasticsearchCluster and puts it into the cluster's namespace. One at a time: the associations are
 * the allocations, and two clusters must not get the last place of a license.
 */
export function bindingController({ settings, system, namespace }: BindingOptions): Controller {
  const pool = new LicensePool();
  const known = new KnownClusters();
  return defineController<ElasticsearchCluster, never, never>(elasticsearchCluster.kind, {
    name: "license-bindings",
    concurrency: 1,
    writesStatus: false,
    namespace,
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

/** The part of a cluster that the choice depends on. */
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

/** Whether another client has an object of a name that we need. It is left alone. */
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
  NoLicenseAvailable: "No license can be used for the cluster.",
  NoMatchingLicense:
    "No license of the type that the label requests can be used; the cluster keeps what it has.",
  DowngradeBlocked:
    "The cluster keeps its license: a lower type needs the annotation license.k8s.elastic.co/allow-downgrade.",
  DesiredLicenseInvalid: "The label k8s.elastic.co/desired-license has an unknown value; nothing is changed.",
  LicenseExpired: "The license of the cluster expired and there is no other one.",
  TLSRequired: "The cluster keeps its license: under basic its nodes need transport TLS.",
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
      note: `No license has room for cluster ${metadata.name}.`,
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

/** Changes that bring clusters back to the choice of their license, besides those of the clusters themselves. */
export function bindingWatches(settings: LicensingSettings, known: KnownClusters): readonly MappedSource[] {
  const everyone = (): readonly ObjectRef[] => known.refs("all");
  // A Secret that no license names yet changes nothing: its license brings every cluster back.
  const named = new Set<string>();
  return [
    mappedFrom(elasticsearchCluster.kind, (cluster) => {
      for (const group of groupsOf(cluster)) known.note(group, cluster);
      return [];
    }),
    mappedFrom(
      poolLicenses(settings),
      (license) => {
        for (const name of signatureSecrets(license.spec)) named.add(name);
        return everyone();
      },
      generationOnly,
    ),
    mappedFrom(poolSecrets(settings), ({ metadata }) => (named.has(metadata.name) ? everyone() : [])),
    mappedFrom(clusterLicense.kind, (each) => known.refs(each.metadata.namespace ?? ""), generationOnly),
    mappedFrom(licenseAssociation.kind, (each) => waiting(each, known), generationOnly),
    mappedFrom({ kind: namespaces, isMetadataOnly: true }, (each) => known.refs(each.metadata.name), {
      changed: ({ metadata: { labels } }) => labels,
    }),
  ];
}

/** Groups in which a cluster is brought back. */
export function groupsOf({ metadata: { namespace } }: Live<ElasticsearchCluster>): readonly string[] {
  return ["all", namespace];
}

/** The cluster of an association; where room of the pool came free or was taken, all clusters. */
function waiting({ spec, metadata }: Live<LicenseAssociation>, known: KnownClusters): readonly ObjectRef[] {
  if (spec.source !== undefined) return known.refs("all");
  return metadata.namespace === undefined
    ? []
    : [{ namespace: metadata.namespace, name: spec.clusterRef.name }];
}
