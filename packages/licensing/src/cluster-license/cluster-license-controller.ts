import { elasticsearchCluster, type ElasticsearchCluster } from "@quartermaster/api";
import {
  type ClusterLicense,
  clusterLicense,
  enterpriseLicense,
  type LicenseAssociation,
  licenseAssociation,
  LICENSED_CLUSTER_LABEL,
  licenseNames,
} from "@quartermaster/api/licensing";
import { sleepUntil } from "@quartermaster/license-selection";
import {
  byNamespace,
  type ConditionUpdate,
  type Context,
  type Controller,
  defineController,
  type Live,
  mappedFrom,
  type MappedSource,
  type Reconciled,
  settled,
  stalled,
  type System,
} from "@quartermaster/runtime";

import { expiryReport, licenseState, timeText, validCondition } from "../expiry/license-state.ts";
import { generationOnly, KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { poolLicenses } from "../licensing-stores.ts";
import { licensingReasons as reasons } from "../reasons.ts";
import { signatureReport } from "./signature-report.ts";

export interface ClusterLicenseOptions {
  readonly settings: LicensingSettings;
  readonly system: System;
  readonly concurrency: number;
  /** Only licenses of this namespace (default: all). */
  readonly namespace?: string | undefined;
}

/** Reports how each ClusterLicense stands: by the clock, and by the reports of the engines of its namespace. It writes nothing but status. */
export function clusterLicenseController({
  settings,
  system,
  concurrency,
  namespace,
}: ClusterLicenseOptions): Controller {
  const known = new KnownClusters();
  return defineController<ClusterLicense, never, never>(clusterLicense.kind, {
    name: "cluster-licenses",
    concurrency,
    namespace,
    watches: clusterLicenseWatches(settings, known),
    reconcile: async (license, ctx) => {
      known.prune(ctx.store(clusterLicense.kind), groupsOf);
      return await Promise.resolve(reconcile(license, ctx, { nowMs: system.wallMs(), settings }));
    },
    conditionTypes: ["SignatureResolved", "SignatureValid", "Valid", "ExpiringSoon", "RejectedByCluster"],
  });
}

interface Now {
  readonly nowMs: number;
  readonly settings: LicensingSettings;
}

function reconcile(
  license: Live<ClusterLicense>,
  ctx: Context,
  { nowMs, settings }: Now,
): Reconciled<ClusterLicense> {
  const { spec, status } = license;
  const { issueDate, startDate = issueDate, expiryDate } = spec;
  const parentMs = parentExpiryMs(license, ctx);
  const expiryMs = Math.min(expiryDate, parentMs);
  const times = licenseState({ startMs: startDate, expiryMs }, nowMs, settings.parameters);
  const isMalformed = startDate >= expiryDate;
  const expiry = expiryReport(times, expiryMs, status?.conditions);
  const engines = engineReport(license, ctx);
  const signature = signatureReport({
    license,
    users: usersOf(license, ctx),
    isPoolCopy: copiedFor(license) !== undefined,
    hasVendorKey: settings.vendorKey !== undefined,
  });
  for (const event of [...expiry.events, ...signature.events]) ctx.events.record(event);
  const message = "The license ends before it begins.";
  return {
    outcome: isMalformed
      ? stalled({ reason: "Malformed", message })
      : settled(sleepUntil(times.nextMs, nowMs, settings.parameters)),
    status: {
      state: isMalformed ? "Invalid" : times.state,
      startTime: timeText(startDate),
      expiryTime: timeText(expiryDate),
      effectiveExpiryTime: timeText(expiryMs),
      nextTransitionTime: times.nextMs === undefined ? undefined : timeText(times.nextMs),
      boundClusters: engines.bound,
    },
    conditions: [
      ...signature.conditions,
      validCondition(isMalformed ? "Malformed" : times.state, message),
      expiry.condition,
      engines.condition,
    ],
  };
}

/** When the license that this one is copied from ends. */
function parentExpiryMs(license: Live<ClusterLicense>, ctx: Context): number {
  const cluster = copiedFor(license);
  const source = cluster === undefined ? undefined : associationOf(license, cluster, ctx)?.spec.source;
  const parent = source === undefined ? undefined : ctx.store(enterpriseLicense.kind).get(source);
  return parent?.spec.expiryDate ?? Number.POSITIVE_INFINITY;
}

/** Name of the cluster that the license was copied from the pool for. */
function copiedFor({ metadata: { name, labels = {} } }: Live<ClusterLicense>): string | undefined {
  const cluster = labels[LICENSED_CLUSTER_LABEL];
  return cluster !== undefined && licenseNames(cluster).pool === name ? cluster : undefined;
}

function associationOf(
  { metadata: { namespace } }: Live<ClusterLicense>,
  cluster: string,
  ctx: Context,
): Live<LicenseAssociation> | undefined {
  const name = licenseNames(cluster).association;
  return ctx.store<LicenseAssociation>(licenseAssociation.kind).get({ namespace, name });
}

/** Clusters for which the search domain reads this license: it has their name, or their association names it. */
function usersOf(license: Live<ClusterLicense>, ctx: Context): readonly Live<ElasticsearchCluster>[] {
  const { namespace, name } = license.metadata;
  return ctx
    .store<ElasticsearchCluster>(elasticsearchCluster.kind)
    .listBy(byNamespace, namespace)
    .filter(({ metadata, status }) => {
      const chosen = associationOf(license, metadata.name, ctx)?.spec.licenseRef.name;
      return status?.license?.uid === license.spec.uid || (chosen ?? metadata.name) === name;
    });
}

interface EngineReport {
  readonly bound: string[];
  readonly condition: ConditionUpdate;
}

/** Report of the engines of the namespace about the license. */
function engineReport(
  { spec: { uid }, metadata: { namespace } }: Live<ClusterLicense>,
  ctx: Context,
): EngineReport {
  const clusters = ctx.store(elasticsearchCluster.kind).listBy(byNamespace, namespace);
  const names = (list: typeof clusters): string[] => list.map(({ metadata }) => metadata.name).toSorted();
  const bound = names(clusters.filter(({ status }) => status?.license?.uid === uid)).slice(0, 100);
  const refusing = names(
    clusters.filter(({ status }) => status?.license?.rejected?.some((each) => each.uid === uid) ?? false),
  );
  const isRefused = refusing.length > 0;
  return {
    bound,
    condition: {
      type: "RejectedByCluster",
      status: isRefused ? "True" : "False",
      reason: isRefused ? reasons.rejectedByCluster : reasons.valid,
      message: isRefused
        ? `Refused by ${refusing.slice(0, 10).join(", ")}; see status.license.rejected of the cluster.`
        : "No cluster refused the license.",
    },
  };
}

/**
 * Changes that bring ClusterLicenses back: what engines report, which of them a cluster uses, and the EnterpriseLicense that a copy
 * ends with. The association of a copy is written after the copy.
 */
export function clusterLicenseWatches(
  settings: LicensingSettings,
  known: KnownClusters,
): readonly MappedSource[] {
  return [
    mappedFrom(clusterLicense.kind, (license) => {
      for (const group of groupsOf(license)) known.note(group, license);
      return [];
    }),
    mappedFrom(elasticsearchCluster.kind, ({ metadata }) => known.refs(metadata.namespace ?? ""), {
      changed: ({ status }) => status?.license,
    }),
    mappedFrom(
      licenseAssociation.kind,
      ({ metadata }) => known.refs(metadata.namespace ?? ""),
      generationOnly,
    ),
    mappedFrom(poolLicenses(settings), () => known.refs(all), generationOnly),
  ];
}

/** No namespace has this name. */
const all = "*";

/** Groups in which a license is brought back. */
function groupsOf({ metadata: { namespace } }: Live<ClusterLicense>): readonly string[] {
  return [all, namespace];
}
