import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import { clusterLicense, licenseAssociation } from "@quartermaster/api/licensing";
import {
  type Context,
  type Controller,
  defineController,
  type Kind,
  type KubeObject,
  type Live,
  type Log,
  type System,
} from "@quartermaster/runtime";

import { PrometheusReadings } from "./autoscaling/prometheus-readings.ts";
import type { QueryPrometheus } from "./autoscaling/query-prometheus.ts";
import { SampleWindows } from "./autoscaling/sample-windows.ts";
import { clusterDeletion, type Left } from "./deletion/cluster-deletion.ts";
import type { ConnectEngine } from "./engine/engine-client.ts";
import { EngineSampler, type EngineSamplerOptions } from "./engine/engine-sampler.ts";
import { managerOf, ownedKinds, predecessorOf } from "./handover/predecessor.ts";
import { LicenseAttempts } from "./license/license-attempts.ts";
import { distributionFacts, distributionOf } from "./model/distribution-facts.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import { monitoringKinds } from "./monitoring/monitoring-kinds.ts";
import { observe, type ObserveOptions } from "./observe.ts";
import { performContext, type PerformDeps } from "./perform-context.ts";
import { perform } from "./perform.ts";
import { conditionTypes } from "./report/cluster-conditions.ts";
import { searchRules } from "./rules.ts";
import type { SearchAction } from "./search-action.ts";
import type { SearchObserver } from "./search-metrics.ts";
import type { PasswordHasher } from "./security-content/password-hasher.ts";
import type { Seen } from "./seen.ts";
import type { OperatorPolicy } from "./spec-issues.ts";
import { owned, watchedBy } from "./watched-by.ts";

export interface SearchControllerOptions {
  readonly kind: Kind<ClusterObject>;
  readonly connect: ConnectEngine;
  /** How clusters' own Prometheus are queried (default: none responds). */
  readonly request?: QueryPrometheus | undefined;
  readonly system: System;
  readonly policy: OperatorPolicy;
  readonly concurrency: number;
  /** Only clusters of this namespace (default: all). */
  readonly namespace?: string | undefined;
  readonly log: Log;
  /** Hooks for metrics (default: none). */
  readonly observer?: SearchObserver | undefined;
  /** How often engines are looked at (default: each 30 s, and each 5 s while something is in progress). */
  readonly sampling?: Pick<EngineSamplerOptions, "settledMs" | "openMs" | "listMs"> | undefined;
  /** Hashes passwords, for all controllers of a process. */
  readonly hasher: PasswordHasher;
}

/** Set on clusters before anything is made for them. */
const finalizer = "search.quartermaster.dev/cluster";

/** One watch for all licenses, not one per cluster. */
const licensingKinds: readonly Kind[] = [clusterLicense.kind, licenseAssociation.kind];

/** Served only where the Prometheus Operator is installed. */
const definedKinds: ReadonlySet<Kind> = new Set<Kind>(Object.values(monitoringKinds));

/** User Secrets that are followed by name, about 2 KB each, of which no namespace gets more than a quarter. */
const followLimit = 2_000;
const namespaceFollowLimit = 500;

/** Runs the search clusters of one kind and group. */
export function searchController(options: SearchControllerOptions): Controller {
  const { kind, connect, system, policy, concurrency, namespace, log, observer = {} } = options;
  const windows = new SampleWindows(system, readingsOf(options));
  observer.targetsReadable?.(windows.targets);
  const onSample = windows.take;
  const sampler = new EngineSampler({ system, connect, log, onSample, ...options.sampling });
  const attempts = new LicenseAttempts(system);
  const nowMs = (): number => system.wallMs();
  const deps = performDeps({ ...options, observer, sampler, attempts, windows, nowMs });
  const observeOptions = { sampler, policy, attempts, windows, nowMs, ...groupsOf(kind) };
  const performAction = async (action: SearchAction, ctx: Context, observed: Seen | Left): Promise<void> => {
    await perform(action, performContext(ctx, observed, deps));
  };
  return defineController<ClusterObject, Seen, SearchAction>(kind, {
    name: managerOf(kind),
    concurrency,
    ...(namespace === undefined ? {} : { namespace }),
    signals: sampler.signals,
    owns: ownedKinds.map((each) => ({ ...owned<KubeObject>(each), isDefined: definedKinds.has(each) })),
    watches: watchedBy(kind),
    followLimit,
    namespaceFollowLimit: namespace === undefined ? namespaceFollowLimit : followLimit,
    retry: { longestMs: 5 * 60_000 },
    ...(distributionFacts[distributionOf(kind.kind)].isLicensed ? { reads: licensingKinds } : {}),
    recipe: {
      finalizer,
      conditionTypes,
      observe: async (object, ctx) => {
        observer.clusterReported?.(stateKey(object), isStalled(object));
        return await observe(object, ctx, observeOptions);
      },
      statusWritten: (before, { outcome }) => {
        observer.clusterReported?.(stateKey(before), outcome.kind === "stalled");
      },
      rules: searchRules,
      perform: performAction,
      deletion: clusterDeletion({
        isOlderGroup: isOlderGroup(kind),
        perform: performAction,
        forget: (uid) => {
          windows.forget(uid);
          sampler.forget(uid);
          attempts.forget(uid);
          observer.clusterForgotten?.(uid);
        },
      }),
    },
  });
}

/** Beside the samples of settled engines, and as often. */
function readingsOf({
  system,
  log,
  request = noReadings,
  sampling = {},
}: SearchControllerOptions): PrometheusReadings {
  const { settledMs } = sampling;
  return new PrometheusReadings({
    system,
    log,
    request,
    everyMs: settledMs,
  });
}

const noReadings: QueryPrometheus = async () => await Promise.resolve(new Map());

function stateKey({ metadata }: Live<ClusterObject>): { readonly uid: string; readonly name: string } {
  return { uid: metadata.uid, name: `${metadata.namespace}/${metadata.name}` };
}

function isStalled({ status }: Live<ClusterObject>): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Stalled" && is === "True") === true;
}

function isOlderGroup({ group }: Kind): boolean {
  return group === opsterOpenSearchCluster.kind.group;
}

/** Facts about the object of the same name in the other group. */
function groupsOf(kind: Kind): Pick<ObserveOptions, "isSuperseded" | "predecessorOf"> {
  const isNewerGroup = kind.group === openSearchCluster.kind.group;
  return {
    isSuperseded: isOlderGroup(kind) ? isSuperseded : (): boolean => false,
    predecessorOf: isNewerGroup ? predecessorOf : (): undefined => undefined,
  };
}

function isSuperseded({ metadata }: Live<ClusterObject>, ctx: Context): boolean {
  return ctx.store(openSearchCluster.kind).get(metadata) !== undefined;
}

function performDeps({
  kind,
  sampler,
  attempts,
  windows,
  nowMs,
  observer,
  hasher,
}: Pick<PerformDeps, "attempts" | "windows" | "nowMs" | "observer" | "hasher"> & {
  readonly kind: Kind<ClusterObject>;
  readonly sampler: EngineSampler;
}): PerformDeps {
  return {
    attempts,
    windows,
    nowMs,
    hasher,
    observer,
    findCluster: async (cluster, { client }) => await client.find(kind, cluster),
    resample: (uid) => {
      sampler.refresh(uid);
    },
    wake: (ref) => {
      sampler.wake(ref);
    },
  };
}
