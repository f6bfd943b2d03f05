import type { JsonObject } from "@quartermaster/runtime";

import { queriesOf } from "./autoscaling-policy.ts";
import { isBefore } from "./is-before.ts";
import type { ClusterObject } from "./read-cluster.ts";
import { acceptedRoles, readRole } from "./read-pool.ts";
import { isManagerPool, type NodePool, type SearchCluster, type SpecIssue } from "./search-cluster.ts";

/** Everything in a declaration that cannot be carried out, each with its place and what to write instead. */
export function checkCluster(cluster: SearchCluster, spec: ClusterObject["spec"]): readonly SpecIssue[] {
  return [
    ...checkVersion(cluster),
    ...checkRoles(spec),
    ...checkRolesOfVersion(cluster, spec),
    ...checkGrpc(cluster),
    ...checkManagers(cluster),
    ...checkTls(cluster),
    ...checkDashboards(cluster),
    ...checkMonitoring(cluster),
    ...cluster.pools.flatMap((pool, at) => checkPool(pool, `spec.nodePools[${String(at)}]`)),
    ...cluster.pools.flatMap((pool, at) => checkScaling(pool, `spec.nodePools[${String(at)}].autoscaling`)),
    ...checkQueries(cluster),
  ];
}

const invalid = (path: string, message: string): SpecIssue => ({ path, reason: "InvalidSpec", message });

function checkVersion({ version }: SearchCluster): readonly SpecIssue[] {
  if (/^\d+\.\d+\.\d+/.test(version)) return [];
  const path = "spec.general.version";
  return version === ""
    ? [invalid(path, "is missing, and the tag of general.image is not a version either: write e.g. 2.19.4")]
    : [invalid(path, "is not a version: write e.g. 2.19.4")];
}

function checkRoles({ nodePools }: ClusterObject["spec"]): readonly SpecIssue[] {
  return nodePools.flatMap(({ roles }, pool) =>
    roles.flatMap((role, at) =>
      readRole(role) === undefined
        ? [
            invalid(
              `spec.nodePools[${String(pool)}].roles[${String(at)}]`,
              `is not a role of a node; there are ${acceptedRoles.join(", ")}`,
            ),
          ]
        : [],
    ),
  );
}

/** Roles that only some engines have: others would refuse to start, or take them for a tag without meaning. */
function checkRolesOfVersion(
  { distribution, version }: SearchCluster,
  { nodePools }: ClusterObject["spec"],
): readonly SpecIssue[] {
  const missing = (role: string): string | undefined => {
    if (role === "warm" && (distribution !== "opensearch" || isBefore(version, 3, 0)))
      return "needs OpenSearch 3: write data_warm, or search at OpenSearch 2";
    if (role === "search" && distribution !== "opensearch")
      return "is a role of OpenSearch alone: write data_frozen";
    return undefined;
  };
  return nodePools.flatMap(({ roles }, pool) =>
    roles.flatMap((role, at) => {
      const message = missing(role);
      return message === undefined
        ? []
        : [invalid(`spec.nodePools[${String(pool)}].roles[${String(at)}]`, message)];
    }),
  );
}

function checkGrpc({ grpc, httpPort }: SearchCluster): readonly SpecIssue[] {
  if (grpc === undefined) return [];
  const { port } = grpc;
  const isUsable = port >= 1 && port <= 65_535 && port !== httpPort && port !== 9300;
  return isUsable
    ? []
    : [invalid("spec.general.grpc.port", "is not a port, or one that is taken: write e.g. 9400-9500")];
}

function checkManagers({ pools }: SearchCluster): readonly SpecIssue[] {
  const managers = pools.filter(isManagerPool).reduce((sum, { replicas }) => sum + replicas, 0);
  return managers > 0
    ? []
    : [invalid("spec.nodePools", "has no node with role cluster_manager: without one no cluster can form")];
}

function checkTls({ security: { isEnabled, transport, http } }: SearchCluster): readonly SpecIssue[] {
  if (!isEnabled) return [];
  return [
    ...(transport.isGenerated || transport.secret !== undefined
      ? []
      : [invalid("spec.security.tls.transport.secret", "is missing although generate is false")]),
    ...(!http.isEnabled || http.isGenerated || http.secret !== undefined
      ? []
      : [invalid("spec.security.tls.http.secret", "is missing although generate is false")]),
  ];
}

/** Both would have the same Service and ConfigMap. */
function checkDashboards({ dashboards, pools }: SearchCluster): readonly SpecIssue[] {
  const at = pools.findIndex(({ name }) => name === "dashboards");
  if (dashboards === undefined || at < 0) return [];
  return [
    invalid(`spec.nodePools[${String(at)}].component`, "must not be dashboards while Dashboards is enabled"),
  ];
}

/** Its Service and Deployments would have the names of the pool's. */
function checkMonitoring({ monitoring, pools }: SearchCluster): readonly SpecIssue[] {
  if (monitoring === undefined) return [];
  const taken = pools.flatMap(({ name }, at) => (monitoringComponents.has(name) ? [{ name, at }] : []));
  return [
    ...taken.map(({ name, at }) =>
      invalid(
        `spec.nodePools[${String(at)}].component`,
        `must not be ${name} while general.monitoring is enabled`,
      ),
    ),
    ...(/^[1-9]\d{0,5}(?:ms|s|m|h)$/.test(monitoring.scrapeInterval)
      ? []
      : [invalid("spec.general.monitoring.scrapeInterval", "is not an interval: write e.g. 30s")]),
    ...checkRelabelings("relabelings", monitoring.relabelings),
    ...checkRelabelings("metricRelabelings", monitoring.metricRelabelings),
  ];
}

/** Allowed actions of rules: change the metrics' own labels, or drop metrics. */
const relabelActions: ReadonlySet<string> = new Set([
  "replace",
  "keep",
  "drop",
  "labeldrop",
  "labelkeep",
  "lowercase",
  "uppercase",
]);

/**
 * An author's rules run in a Prometheus of others: they must neither lead it to another address nor pass the metrics off as those of
 * another namespace or cluster.
 */
function checkRelabelings(
  field: "relabelings" | "metricRelabelings",
  rules: readonly JsonObject[],
): readonly SpecIssue[] {
  return rules.flatMap((rule, at) => {
    const path = `spec.general.monitoring.${field}[${String(at)}]`;
    const action = textIn(rule, "action", "replace").toLowerCase();
    const target = textIn(rule, "targetLabel", "");
    return [
      ...(relabelActions.has(action)
        ? []
        : [invalid(`${path}.action`, `must be one of ${[...relabelActions].join(", ")}`)]),
      ...(/^(?!__|namespace$|cluster$)[a-zA-Z_][a-zA-Z0-9_]{0,127}$/.test(target) || target === ""
        ? []
        : [
            invalid(
              `${path}.targetLabel`,
              "must be a label other than namespace, cluster and those that begin with __",
            ),
          ]),
    ];
  });
}

/** A field that is no text is none that can be used. */
function textIn(rule: JsonObject, field: string, byDefault: string): string {
  const value = rule[field] ?? byDefault;
  return typeof value === "string" ? value : "?";
}

const monitoringComponents: ReadonlySet<string> = new Set([
  "exporter",
  "prometheus",
  "alertmanager",
  "grafana",
  "alerts",
]);

function checkPool({ storage, roles }: NodePool, path: string): readonly SpecIssue[] {
  const isSized = storage.kind !== "volume" || /^[0-9.]+([EPTGMk]i?|m)?$/.test(storage.size);
  const isVotingOnly = roles.includes("voting_only") && !roles.includes("cluster_manager");
  return [
    ...(isSized ? [] : [invalid(`${path}.diskSize`, "is not a size: write e.g. 30Gi")]),
    ...(isVotingOnly ? [invalid(`${path}.roles`, "has voting_only without cluster_manager")] : []),
  ];
}

function checkScaling(pool: NodePool, path: string): readonly SpecIssue[] {
  return [...checkAutoscaling(pool, path), ...checkGrowth(pool, `${path}.storage`)];
}

const percentages: ReadonlySet<string> = new Set(["Cpu", "Heap", "Disk"]);

/** The API server's rules repeated: files are checked without one. */
function checkAutoscaling(
  { autoscaling, roles }: Pick<NodePool, "autoscaling" | "roles">,
  path: string,
): readonly SpecIssue[] {
  if (autoscaling === undefined) return [];
  const { mode, minReplicas, maxReplicas, metrics } = autoscaling;
  return [
    ...(minReplicas <= maxReplicas
      ? []
      : [invalid(`${path}.minReplicas`, "must not be greater than maxReplicas")]),
    ...(mode === "Auto" && isManagerPool({ roles })
      ? [
          invalid(
            `${path}.mode`,
            "must not be Auto in a pool with role cluster_manager: write Recommend, or give data nodes a pool of their own",
          ),
        ]
      : []),
    ...metrics.flatMap(({ type, target }, at) =>
      percentages.has(type) && target > 100
        ? [invalid(`${path}.metrics[${String(at)}].target`, "is a percentage: write 1 to 100")]
        : [],
    ),
  ];
}

function checkGrowth(
  { autoscaling, storage }: Pick<NodePool, "autoscaling" | "storage">,
  path: string,
): readonly SpecIssue[] {
  if (autoscaling?.storage === undefined) return [];
  if (storage.kind !== "volume")
    return [invalid(path, "needs volumes that can grow: remove it, or persistence.emptyDir and hostPath")];
  return autoscaling.storage.maxBytes === undefined
    ? [invalid(`${path}.maxSize`, "is not a size: write e.g. 200Gi")]
    : [];
}

/** Metrics of type Prometheus without a Prometheus, and the API server's rules repeated: files are checked without one. */
function checkQueries({
  pools,
  monitoring,
}: Pick<SearchCluster, "pools" | "monitoring">): readonly SpecIssue[] {
  // Unset, the served kinds decide the stack, and a newly installed operator must not make a spec invalid.
  const mode = monitoring === undefined ? "None" : (monitoring.stack.mode ?? "Standalone");
  return pools.flatMap((pool, at) => {
    const path = `spec.nodePools[${String(at)}].autoscaling.metrics`;
    const hasNoResponse = mode !== "Standalone" && queriesOf([pool]).length > 0;
    return [
      ...checkShape(pool, path),
      ...(hasNoResponse
        ? [
            invalid(
              path,
              "type Prometheus needs the cluster's own Prometheus: set spec.general.monitoring.enable and stack.mode: Standalone",
            ),
          ]
        : []),
    ];
  });
}

const mostQueries = 2;

function checkShape({ autoscaling }: NodePool, path: string): readonly SpecIssue[] {
  const { metrics = [] } = autoscaling ?? {};
  const queries = metrics.filter(({ type }) => type === "Prometheus");
  return [
    ...metrics.flatMap(({ type, query }, at) =>
      (type === "Prometheus") === (query !== undefined)
        ? []
        : [
            invalid(
              `${path}[${String(at)}].query`,
              "belongs to type Prometheus, which needs it, and to no other",
            ),
          ],
    ),
    ...(queries.length > mostQueries ? [invalid(path, "has more than two of type Prometheus")] : []),
  ];
}
