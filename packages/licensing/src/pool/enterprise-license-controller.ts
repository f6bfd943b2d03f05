import { elasticsearchCluster } from "@quartermaster/api";
import {
  clusterLicense,
  type EnterpriseLicense,
  enterpriseLicense,
  licenseAssociation,
} from "@quartermaster/api/licensing";
import { sleepUntil } from "@quartermaster/license-selection";
import {
  type Context,
  type Controller,
  defineController,
  type Live,
  mappedFrom,
  type ObjectRef,
  type Reconciled,
  settled,
  stalled,
  type System,
} from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import { KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { type Allocation, allocationsOf, licensingStores, poolSecrets } from "../licensing-stores.ts";
import { enterpriseReport } from "./enterprise-report.ts";
import { LicensePool, type PoolLicense } from "./license-pool.ts";

export interface EnterpriseLicenseOptions {
  readonly settings: LicensingSettings;
  readonly system: System;
  /** Where clusters are (default: everywhere). With it only the license namespace is looked at. */
  readonly namespace?: string | undefined;
}

/** Reports how each EnterpriseLicense stands: signature, dates, licenses in it, and who uses it. It writes nothing but status. */
export function enterpriseLicenseController({
  settings,
  system,
  namespace,
}: EnterpriseLicenseOptions): Controller {
  const pool = new LicensePool();
  const known = new KnownClusters();
  const everyone = (): readonly ObjectRef[] => known.refs("all");
  return defineController<EnterpriseLicense, never, never>(enterpriseLicense.kind, {
    name: "enterprise-licenses",
    concurrency: 1,
    namespace: namespace === undefined ? undefined : settings.licenseNamespace,
    watches: [
      mappedFrom(enterpriseLicense.kind, (license) => {
        known.note("all", license);
        return [];
      }),
      mappedFrom(poolSecrets(settings), everyone),
      mappedFrom(
        { kind: licenseAssociation.kind, namespace },
        ({ spec }) => (spec.source === undefined ? [] : [spec.source]),
        {
          changed: ({ metadata: { generation } }) => generation,
        },
      ),
      mappedFrom({ kind: elasticsearchCluster.kind, namespace }, everyone, {
        changed: ({ spec, status }) => [spec.nodePools.map(({ replicas }) => replicas), status?.capacity],
      }),
    ],
    reads: [
      { kind: clusterLicense.kind, namespace },
      { kind: namespaces, isMetadataOnly: true },
    ],
    conditionTypes: ["SignatureValid", "Valid", "ExpiringSoon", "CapacityOK", "NamespaceAccepted"],
    reconcile: async (license, ctx) => {
      const stores = licensingStores(ctx, settings, pool);
      known.prune(ctx.store(enterpriseLicense.kind), () => ["all"]);
      const read = stores.pool.licenses.find((each) => each.license.metadata.uid === license.metadata.uid);
      if (read === undefined) return await Promise.resolve(settled());
      return reconcile(read, allocationsOf(stores, license), { ctx, settings, nowMs: system.wallMs() });
    },
  });
}

interface Now {
  readonly ctx: Context;
  readonly settings: LicensingSettings;
  readonly nowMs: number;
}

function reconcile(
  read: PoolLicense,
  allocations: readonly Allocation[],
  { ctx, settings, nowMs }: Now,
): Reconciled<EnterpriseLicense> {
  const license: Live<EnterpriseLicense> = read.license;
  const report = enterpriseReport(read, allocations, {
    nowMs,
    parameters: settings.parameters,
    before: license.status,
  });
  for (const event of report.events) ctx.events.record(event);
  return {
    outcome:
      read.problem === undefined
        ? settled(sleepUntil(report.nextMs, nowMs, settings.parameters))
        : stalled(read.problem, settings.parameters.maxSleepMs),
    status: report.status,
    conditions: report.conditions,
  };
}
