import { elasticsearchCluster, openSearchCluster } from "@quartermaster/api";
import { isJsonObject, type JsonObject } from "@quartermaster/runtime";

import { wantedCertificates } from "../../src/certificates/wanted-certificates.ts";
import { dashboardsLane } from "../../src/dashboards/dashboards-lane.ts";
import { engineTarget } from "../../src/engine-sampling.ts";
import { decideLane, type SearchLane } from "../../src/lane.ts";
import { checkCluster } from "../../src/model/check-cluster.ts";
import { readCluster } from "../../src/model/read-cluster.ts";
import { monitoringLane } from "../../src/monitoring/monitoring-lane.ts";
import { observeWorkload } from "../../src/observe-workload.ts";
import { readDeclaration } from "../../src/offline/read-declaration.ts";
import { poolsLane } from "../../src/pools/pools-lane.ts";
import type { AccountFact, Seen } from "../../src/seen.ts";
import { specIssues } from "../../src/spec-issues.ts";
import { supportingObjectsLane } from "../../src/supporting-objects/supporting-objects-lane.ts";
import { officialHosts } from "../../src/workload/workload-issues.ts";
import { aMaterial, aPod, aSeen } from "./a-seen.ts";

/** What a spec comes to: objects by kind and name, and what lanes decide by. */
export interface Rendered {
  readonly objects: readonly { readonly of: string; readonly content: unknown }[];
  readonly certificates: unknown;
  readonly target: unknown;
  /** Everything that lanes read of the spec. */
  readonly cluster: Seen["cluster"];
  readonly issues: readonly string[];
}

const pair = { certificatePem: "CLUSTER-CA", keyPem: "key" };

/** Renders a spec, by the lanes that write objects. */
export function rendered(kind: "OpenSearchCluster" | "ElasticsearchCluster", spec: JsonObject): Rendered {
  const { group, version } = (kind === "OpenSearchCluster" ? openSearchCluster : elasticsearchCluster).kind;
  const read = readDeclaration({
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "logs", namespace: "team", uid: "1f2e" },
    spec,
  });
  if (read.kind !== "read") throw new Error(JSON.stringify(read));
  const seen = seenOf(read.object);
  const { cluster } = seen;
  const lanes = [supportingObjectsLane, poolsLane, dashboardsLane, monitoringLane];
  return {
    objects: lanes.flatMap((lane) => objectsOf(lane, seen)),
    certificates: wantedCertificates(seen),
    target: engineTarget(cluster, seen.material, [aPod("logs-nodes-0")]),
    cluster,
    issues: [
      ...readCluster(read.object).issues,
      ...checkCluster(cluster, read.object.spec),
      ...specIssues(cluster, { pluginHosts: officialHosts }),
    ].map(({ path }) => path),
  };
}

function objectsOf(lane: SearchLane, seen: Seen): Rendered["objects"] {
  return decideLane(lane, seen, new Date(0)).actions.flatMap((action) =>
    action.kind === "apply"
      ? [{ of: `${action.resource.kind} ${action.object.metadata.name}`, content: action.object }]
      : [],
  );
}

const account: AccountFact = {
  name: "account",
  state: "ours",
  live: undefined,
  login: { username: "user", password: "p" },
  version: "1",
};

/** A cluster that has formed, and has everything that it needs. */
function seenOf(object: Parameters<typeof readCluster>[0]): Seen {
  const workload = observeWorkload(object, { sets: [], pods: [], claims: [] });
  const cluster = withStack(workload.cluster);
  return aSeen({
    ...workload,
    cluster,
    status: { clusterUuid: "u", version: cluster.version },
    bootstrapList: "empty",
    material: aMaterial({
      ca: { name: "logs-ca", state: "ours", live: undefined, pair },
      certificates: certificatesOf(cluster),
      issuers: issuersOf(cluster),
      dashboards: cluster.dashboards === undefined ? undefined : account,
      monitoring: cluster.monitoring?.userSecret === undefined ? account : undefined,
      grafana: account,
    }),
    monitoring: {
      ...aSeen().monitoring,
      served: new Set(["ServiceMonitor", "PrometheusRule", "Prometheus", "Alertmanager"]),
    },
  });
}

function certificatesOf({ dashboards, monitoring }: Seen["cluster"]): Seen["material"]["certificates"] {
  const own = { name: "own", state: "ours", live: undefined, pair } as const;
  const needsUi = dashboards?.isTlsEnabled === true && dashboards.tlsSecret === undefined;
  return new Map([
    ...(["transport", "http", "admin"] as const).map((name) => [name, own] as const),
    ...(needsUi ? [["dashboards", own] as const] : []),
    ...(monitoring?.stack.mode === "Standalone" ? [["monitoring", own] as const] : []),
  ]);
}

function issuersOf({ security: { http }, dashboards }: Seen["cluster"]): Seen["material"]["issuers"] {
  const named = [
    ["http", http.isGenerated ? http.caSecret : undefined] as const,
    ["dashboards", dashboards?.tlsCaSecret] as const,
  ];
  return new Map(
    named.flatMap(([name, secret]) =>
      secret === undefined ? [] : [[name, { certificatePem: `CA of ${secret}`, keyPem: "key" }] as const],
    ),
  );
}

/** As the operator decides where prometheus-operator is not installed. */
function withStack(cluster: Seen["cluster"]): Seen["cluster"] {
  const { monitoring } = cluster;
  if (monitoring === undefined) return cluster;
  const mode = monitoring.stack.mode ?? "Standalone";
  return { ...cluster, monitoring: { ...monitoring, stack: { ...monitoring.stack, mode } } };
}

/** Whether a value stands anywhere in another: an object with all of its fields, a list with all of its items. */
export function holds(whole: unknown, part: unknown): boolean {
  if (isWithin(part, whole)) return true;
  if (Array.isArray(whole)) return whole.some((each) => holds(each, part));
  return isJsonObject(whole) && Object.values(whole).some((each) => holds(each, part));
}

function isWithin(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((each) => whole.some((other) => isWithin(each, other)));
  if (!isJsonObject(part)) return part === whole;
  return isJsonObject(whole) && Object.entries(part).every(([key, value]) => isWithin(value, whole[key]));
}

/** A spec with a value at a path; `[]` is the first element of a list. */
export function withValue(spec: JsonObject, path: string, value: unknown): JsonObject {
  const [head = "", ...rest] = path.split(".");
  const key = head.replace("[]", "");
  const inner = (before: unknown): unknown =>
    rest.length === 0 ? value : withValue(isJsonObject(before) ? before : {}, rest.join("."), value);
  const present = spec[key];
  if (!head.endsWith("[]")) return { ...spec, [key]: inner(present) };
  const [first, ...others] = Array.isArray(present) ? (present as readonly unknown[]) : [{}];
  return { ...spec, [key]: [inner(first), ...others] };
}
