import { elasticsearchCluster } from "@quartermaster/api";
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
  isControlledBy,
  type Live,
  mappedFrom,
  type Outcome,
  type Reconciled,
  settled,
  stalled,
  type StatusOf,
  type System,
  waiting,
} from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import { decideBinding } from "../binding/decide-binding.ts";
import { observeBinding } from "../binding/observe-binding.ts";
import { timeText } from "../expiry/license-state.ts";
import { KnownClusters } from "../known-clusters.ts";
import type { LicensingSettings } from "../licensing-settings.ts";
import { licensingStores, type LicensingStores, poolLicenses, poolSecrets } from "../licensing-stores.ts";
import { LicensePool } from "../pool/license-pool.ts";
import {
  associationEvents,
  type AssociationSeen,
  associationState,
  type AssociationState,
} from "./association-state.ts";
import { explanation } from "./explanation.ts";

export interface AssociationOptions {
  readonly settings: LicensingSettings;
  readonly system: System;
  readonly concurrency: number;
  /** Only associations of this namespace (default: all). */
  readonly namespace?: string | undefined;
}

/** Reports how each association stands and how its license was chosen. It writes nothing but status. */
export function associationController({
  settings,
  system,
  concurrency,
  namespace,
}: AssociationOptions): Controller {
  const pool = new LicensePool();
  const known = new KnownClusters();
  return defineController<LicenseAssociation, never, never>(licenseAssociation.kind, {
    name: "license-associations",
    concurrency,
    namespace,
    watches: [
      mappedFrom(
        licenseAssociation.kind,
        (each) => {
          known.note(clusterKey(each), each);
          known.note(`${each.metadata.namespace ?? ""}/`, each);
          return known.refs(clusterKey(each));
        },
        { changed: ({ metadata: { generation } }) => generation },
      ),
      mappedFrom(elasticsearchCluster.kind, ({ metadata: { namespace: location, name } }) =>
        known.refs(`${location}/${name}`),
      ),
      mappedFrom(clusterLicense.kind, ({ metadata }) => known.refs(`${metadata.namespace ?? ""}/`), {
        changed: ({ metadata: { generation } }) => generation,
      }),
    ],
    reads: [poolLicenses(settings), poolSecrets(settings), { kind: namespaces, isMetadataOnly: true }],
    reconcile: async (association, ctx) => {
      const stores = licensingStores(ctx, settings, pool);
      known.prune(stores.associations, (each) => [clusterKey(each), `${each.metadata.namespace ?? ""}/`]);
      return await Promise.resolve(reconcile(association, stores, { settings, nowMs: system.wallMs(), ctx }));
    },
  });
}

function clusterKey({ metadata: { namespace }, spec }: Live<LicenseAssociation>): string {
  return `${namespace}/${spec.clusterRef.name}`;
}

interface Now {
  readonly settings: LicensingSettings;
  readonly nowMs: number;
  readonly ctx: Context;
}

function reconcile(
  association: Live<LicenseAssociation>,
  stores: LicensingStores,
  { settings, nowMs, ctx }: Now,
): Reconciled<LicenseAssociation> {
  const seen = observe(association, stores);
  const state = associationState(seen, nowMs, settings.parameters);
  const before = association.status;
  for (const event of associationEvents(before, state, seen.license?.spec.uid)) ctx.events.record(event);
  const binding =
    seen.cluster !== undefined && isControlledBy(association, seen.cluster)
      ? decideBinding(observeBinding(seen.cluster, stores), nowMs, settings.parameters)
      : undefined;
  return {
    outcome: outcomeOf(state, sleepUntil(binding?.selection.wakeAtMs, nowMs, settings.parameters)),
    status: {
      ...state,
      ...appliedFields(state, seen, nowMs),
      ...(binding === undefined
        ? {}
        : {
            explanation: explanation(binding, {
              before: before?.explanation,
              nowMs,
              parameters: settings.parameters,
            }),
          }),
    },
  };
}

function appliedFields(
  { state }: AssociationState,
  { association: { status }, license }: AssociationSeen,
  nowMs: number,
): StatusOf<LicenseAssociation> {
  if (state !== "Applied" || license === undefined) return lastApplied(status);
  const { uid } = license.spec;
  const isKnown = status?.appliedUid === uid && status.appliedTime !== undefined;
  return { appliedUid: uid, appliedTime: isKnown ? status.appliedTime : timeText(nowMs) };
}

/** The engine's earlier license, so that a change of licenses differs from the first one. */
function lastApplied(status: LicenseAssociation["status"]): StatusOf<LicenseAssociation> {
  const { appliedUid, appliedTime } = status ?? {};
  return {
    appliedUid,
    appliedTime,
  };
}

function observe(association: Live<LicenseAssociation>, stores: LicensingStores): AssociationSeen {
  const { namespace } = association.metadata;
  const { clusterRef, licenseRef } = association.spec;
  const siblings = stores.associations
    .listBy(byNamespace, namespace)
    .filter(({ spec }) => spec.clusterRef.name === clusterRef.name);
  const names = new Set([
    licenseNames(clusterRef.name).direct,
    ...siblings.map(({ spec }) => spec.licenseRef.name),
  ]);
  const licenseOf = (name: string): Live<ClusterLicense> | undefined =>
    stores.licenses.get({ namespace, name });
  return {
    association,
    cluster: stores.clusters.get({ namespace, name: clusterRef.name }),
    license: licenseOf(licenseRef.name),
    rivals: [...names].flatMap((name) => licenseOf(name) ?? []),
    pinned: new Set(siblings.flatMap(({ spec }) => (spec.pinned ? [spec.licenseRef.name] : []))),
  };
}

function outcomeOf({ state, reason, message }: AssociationState, recheckMs: number): Outcome {
  if (state === "Rejected") return stalled({ reason, message }, recheckMs);
  return state === "Pending" ? waiting({ reason, message }, recheckMs) : settled(recheckMs);
}
