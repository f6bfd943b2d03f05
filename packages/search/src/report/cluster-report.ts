import { fieldOf, type Outcome, timestampOf } from "@quartermaster/runtime";
import { readCertificate } from "@quartermaster/runtime/certificates";

import { renewedValue } from "../certificates/certificates-lane.ts";
import { needsServedCertificates, servedCertificates } from "../certificates/served-certificates.ts";
import { serverNameOf } from "../certificates/wanted-certificates.ts";
import type { EngineNode } from "../engine/engine-facts.ts";
import type { LaneDecision, StatusIntent } from "../lane.ts";
import { licenseReport } from "../license/license-report.ts";
import { clusterNames } from "../model/cluster-names.ts";
import { quantityBytes } from "../model/quantity-units.ts";
import { allPools } from "../model/read-cluster.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringReport } from "../monitoring/monitoring-lane.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import { healthDuring, nodeReports, type OperatedNode, operatedNode, poolReports } from "./node-reports.ts";
import { whileStarting } from "./while-starting.ts";

/** The whole status: what was decided, and what is seen. Nothing in it changes on its own. */
export function clusterReport(
  seen: Seen,
  decisions: readonly LaneDecision[],
  now: Date,
): Partial<ClusterStatus> {
  const { cluster } = seen;
  const kept = keptOf(seen, decisions);
  const isFormed = kept.clusterUuid !== undefined;
  const operated = operatedNode(seen, decisions);
  const report = defined({
    ...kept,
    restarted: restartedOf(seen),
    ...membersOf(seen, operated),
    phase: isFormed ? "RUNNING" : "PENDING",
    initialized: isFormed,
    componentsStatus: decisions.map(({ lane, outcome }) => ({ component: lane, status: labelFor(outcome) })),
    blockers: blockersOf(decisions),
    nodePools: poolReports(seen, operated),
    nodes: nodeReports(seen, operated),
    certificates: cluster.security.isEnabled ? certificatesOf(seen) : undefined,
    access: accessOf(seen),
    engine: engineOf(seen),
    capacity: capacityOf(seen, operated),
    monitoring: monitoringReport(seen),
    license: licenseReport(
      seen,
      decisions.find(({ lane }) => lane === "license"),
      now,
    ),
  });
  return whileStarting(seen, decisions, report);
}

/** Without the fields that have nothing to say. */
function defined(status: Partial<Record<keyof ClusterStatus, unknown>>): Partial<ClusterStatus> {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
}

/** Decisions that hold until a lane changes them. */
function keptOf({ status }: Seen, decisions: readonly LaneDecision[]): StatusIntent {
  const { bootstrap, clusterUuid, autoscaling } = decisions.reduce<StatusIntent>(
    (all, { intent }) => ({ ...all, ...intent }),
    status,
  );
  // While a lane has a say, its record is its own.
  const others = Object.entries(laneRecords).filter(([name]) => !decisions.some(({ lane }) => lane === name));
  return others.reduce<StatusIntent>((all, [, record]) => ({ ...all, ...record(status) }), {
    bootstrap,
    clusterUuid,
    autoscaling,
  });
}

/** Records of lanes in the status, by the lane's name: what must be there before something is done. */
export const laneRecords: Readonly<Record<string, (status: StatusIntent) => StatusIntent>> = {
  nodes: ({ operation, stalledDrain }) => ({
    ...(operation === undefined ? {} : { operation }),
    ...(stalledDrain === undefined ? {} : { stalledDrain }),
  }),
  repositories: ({ repositories = [] }) => (repositories.length === 0 ? {} : { repositories }),
  clusterSettings: ({ clusterSettings = [] }) => (clusterSettings.length === 0 ? {} : { clusterSettings }),
};

/** Values that requested a restart: pods made from now on have them, whether the annotations stay or not. */
function restartedOf({ cluster: { requests } }: Seen): ClusterStatus["restarted"] {
  const all = [
    ...(requests.restart === undefined ? [] : [{ scope: allPools, value: requests.restart }]),
    ...Object.entries(requests.restartPools).map(([scope, value]) => ({ scope, value })),
  ];
  return all.length === 0 ? undefined : all;
}

function membersOf(
  seen: Seen,
  operated: OperatedNode,
): Pick<Partial<ClusterStatus>, "version" | "health" | "availableNodes"> {
  const { engine, status } = seen;
  return {
    version: runningVersion(seen),
    health: healthDuring(operated, {
      before: status.health,
      now: engine.health.isKnown ? engine.health.value.status : "unknown",
    }),
    availableNodes: engine.nodes.isKnown
      ? presentMembers(engine.nodes.value, operated)
      : status.availableNodes,
  };
}

function presentMembers(members: readonly EngineNode[], { away }: OperatedNode): number {
  return members.filter(({ name }) => name !== away).length;
}

function labelFor(outcome: Outcome): string {
  return outcome.kind === "settled" ? "Ready" : outcome.why.reason;
}

/** The version, once every member runs the same one. */
function runningVersion({ engine, status }: Seen): string | undefined {
  if (!engine.nodes.isKnown) return status.version;
  const versions = new Set(engine.nodes.value.map(({ version }) => version));
  return versions.size === 1 ? [...versions][0] : status.version;
}

function blockersOf(decisions: readonly LaneDecision[]): NonNullable<ClusterStatus["blockers"]> {
  return decisions.flatMap(({ lane, rule, outcome, actor }) =>
    outcome.kind === "settled"
      ? []
      : [
          {
            lane,
            rule,
            reason: outcome.why.reason,
            message: outcome.why.message.slice(0, longestMessage),
            ...(actor === undefined ? {} : { actor }),
          },
        ],
  );
}

/** As the schema says: a longer one would keep the whole status from being written. */
const longestMessage = 4096;

function certificatesOf(seen: Seen): NonNullable<ClusterStatus["certificates"]> {
  const { material } = seen;
  const end = (certificate: "http" | "transport"): string | undefined => {
    const facts = readCertificate(material.certificates.get(certificate)?.pair?.certificatePem ?? "");
    return facts === undefined ? undefined : timestampOf(new Date(facts.validity.notAfterMs));
  };
  const httpNotAfter = end("http");
  const transportNotAfter = end("transport");
  const renewed = renewedValue(seen);
  return {
    ...servedReport(seen),
    ...(httpNotAfter === undefined ? {} : { httpNotAfter }),
    ...(transportNotAfter === undefined ? {} : { transportNotAfter }),
    ...(renewed === undefined ? {} : { renewed }),
  };
}

/** Which certificates all nodes were seen with, and which are not seen with the present ones. A node without a report stays as it was reported. */
function servedReport(seen: Seen): Pick<NonNullable<ClusterStatus["certificates"]>, "served" | "staleNodes"> {
  const { served, staleNodes = [] } = seen.status.certificates ?? {};
  const certificates = needsServedCertificates(seen) ? servedCertificates(seen) : undefined;
  if (certificates === undefined) return served === undefined ? {} : { served };
  if (certificates.isProven) return { served: certificates.digest };
  const stale = [
    ...certificates.stale.map(({ node }) => node),
    ...certificates.unknown.filter((node) => staleNodes.includes(node)),
  ].toSorted();
  return {
    ...(served === undefined ? {} : { served }),
    ...(stale.length === 0 ? {} : { staleNodes: stale.slice(0, mostStale) }),
  };
}

/** As many nodes as the status names. */
const mostStale = 200;

function accessOf({ cluster }: Seen): NonNullable<ClusterStatus["access"]> {
  return {
    service: serverNameOf(cluster),
    port: cluster.httpPort,
    ...(cluster.security.isEnabled && cluster.security.http.isEnabled
      ? { caSecret: clusterNames(cluster).httpCertificate }
      : {}),
  };
}

/** Facts for licensing: versions and TLS. */
function engineOf({ cluster, engine, status }: Seen): NonNullable<ClusterStatus["engine"]> {
  const versions = engine.nodes.isKnown
    ? engine.nodes.value.map(({ version }) => version).toSorted(byVersion)
    : [];
  return {
    ...status.engine,
    transportTls: cluster.security.transport.isEnabled,
    security: cluster.security.isEnabled,
    fips: false,
    ...(versions.length === 0 ? {} : { minVersion: versions[0], maxVersion: versions.at(-1) }),
  };
}

function capacityOf(
  { cluster, engine, status }: Seen,
  operated: OperatedNode,
): NonNullable<ClusterStatus["capacity"]> {
  const { memoryBytes: _before, ...before } = status.capacity ?? {};
  const bytes = memoryBytes(cluster);
  return {
    ...before,
    ...(bytes === undefined ? {} : { memoryBytes: bytes }),
    desiredNodes: cluster.pools.reduce((sum, { replicas }) => sum + replicas, 0),
    ...(engine.nodes.isKnown ? { presentNodes: presentMembers(engine.nodes.value, operated) } : {}),
  };
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

/** Memory limits of all declared nodes together; undefined as soon as one pool has none, because a part says nothing of the whole. */
export function memoryBytes({ pools }: Pick<SearchCluster, "pools">): number | undefined {
  const perPool = pools.map(({ replicas, resources }) => {
    const limit = quantityBytes(fieldOf(fieldOf(resources, "limits"), "memory"));
    return limit === undefined ? undefined : limit * replicas;
  });
  const known = perPool.filter((bytes) => bytes !== undefined);
  if (known.length < perPool.length) return undefined;
  const sum = Math.ceil(known.reduce((all, bytes) => all + bytes, 0));
  return Number.isSafeInteger(sum) ? sum : undefined;
}
