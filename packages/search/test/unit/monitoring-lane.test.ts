import { ApiError, type Live } from "@quartermaster/runtime";
import { configMaps, type Deployment, deployments, secrets, services } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { readExporterConfig } from "../../src/exporter/index.ts";
import { decideLane } from "../../src/lane.ts";
import { checkCluster } from "../../src/model/check-cluster.ts";
import type { MonitoringSettings } from "../../src/model/read-monitoring.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import { exporterConfigMap, exporterDeployment } from "../../src/monitoring/exporter-deployment.ts";
import { type MonitoringKind, monitoringKinds } from "../../src/monitoring/monitoring-kinds.ts";
import { monitoringLane, monitoringReport } from "../../src/monitoring/monitoring-lane.ts";
import { type MonitoringSeen, NO_MONITORING, withStack } from "../../src/monitoring/observe-monitoring.ts";
import type { PresentObject } from "../../src/present-object.ts";
import { wantedContent } from "../../src/security-content/wanted-content.ts";
import type { AccountFact, Seen } from "../../src/seen.ts";
import { networkPolicy } from "../../src/supporting-objects/supporting-objects-lane.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";
import { aMonitoring, anElasticsearch, aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aSeen } from "../support/a-seen.ts";

const now = new Date(0);
const account: AccountFact = {
  name: "logs-monitoring-password",
  state: "ours",
  live: undefined,
  login: { username: "quartermaster-monitoring", password: "p" },
  version: "1",
};
const grafana: AccountFact = { ...account, name: "logs-grafana-password" };
const formed = { clusterUuid: "u", version: "2.19.4" };

function stacked(mode: MonitoringSettings["stack"]["mode"], changes: object = {}): SearchCluster {
  const settings = aMonitoring();
  return aSearchCluster({ monitoring: { ...settings, stack: { ...settings.stack, mode, ...changes } } });
}

function ours(kind: PresentObject["kind"], name: string): PresentObject {
  return { kind, name, uid: `uid-${name}`, resourceVersion: "7", isTerminating: false };
}

function running(...names: readonly string[]): MonitoringSeen["deployments"] {
  return new Map(
    names.map((name) => [
      name,
      {
        metadata: { name, generation: 2 },
        status: { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1 },
      } as Live<Deployment>,
    ]),
  );
}

function seenWith(
  cluster: SearchCluster,
  monitoring: Partial<MonitoringSeen> = {},
  changes: Partial<Seen> = {},
): Seen {
  const hasGrafana = cluster.monitoring?.stack.mode === "Standalone";
  return aSeen({
    cluster,
    material: aMaterial({
      monitoring: cluster.monitoring === undefined ? undefined : account,
      grafana: hasGrafana ? grafana : undefined,
    }),
    status: formed,
    monitoring: { ...NO_MONITORING, ...monitoring },
    ...changes,
  });
}

/** Logins are there, the certificate is not. */
function stackMaterial(state: "missing" | "foreign"): Seen["material"] {
  const certificate = { name: "logs-monitoring-cert", state, live: undefined, pair: undefined };
  return aMaterial({ monitoring: account, grafana, certificates: new Map([["monitoring", certificate]]) });
}

function output(seen: Seen): readonly string[] {
  return decideLane(monitoringLane, seen, now).actions.map((action) => {
    if (action.kind === "apply") return `${action.resource.kind} ${action.object.metadata.name}`;
    return action.kind === "prune" ? `prune ${action.name}` : action.kind;
  });
}

const none = stacked("None");
const standalone = stacked("Standalone");
const everything = ["exporter", "prometheus", "alertmanager", "grafana"].map((part) => `logs-${part}`);
const all: ReadonlySet<MonitoringKind> = new Set([
  "ServiceMonitor",
  "PrometheusRule",
  "Prometheus",
  "Alertmanager",
  "GrafanaDashboard",
]);

test.for<[string, Seen, string, string]>([
  ["it is off", seenWith(aSearchCluster()), "notYet", "settled"],
  ["the cluster has not formed", seenWith(none, {}, { status: {} }), "notYet", "settled"],
  [
    "it was switched off",
    seenWith(aSearchCluster(), {
      present: [ours(deployments, "logs-exporter"), ours(secrets, "logs-monitoring-password")],
    }),
    "prune",
    "waiting",
  ],
  [
    "the stack was switched off",
    seenWith(none, { present: [ours(deployments, "logs-grafana")] }),
    "prune",
    "waiting",
  ],
  [
    "a kind takes the place of a file",
    seenWith(none, { served: new Set(["PrometheusRule"]), present: [ours(configMaps, "logs-alerts")] }),
    "prune",
    "waiting",
  ],
  [
    "a Secret of the author is missing",
    seenWith(none, { missing: ["Secret theirs"] }),
    "awaitMaterial",
    "waiting",
  ],
  [
    "its login is missing",
    seenWith(none, {}, { material: aMaterial({ monitoring: { ...account, login: undefined } }) }),
    "awaitMaterial",
    "waiting",
  ],
  [
    "another client else has the name of its login",
    seenWith(
      none,
      {},
      { material: aMaterial({ monitoring: { ...account, state: "foreign", login: undefined } }) },
    ),
    "foreignSecret",
    "stalled",
  ],
  [
    "the certificate of the stack is missing",
    seenWith(standalone, {}, { material: stackMaterial("missing") }),
    "awaitMaterial",
    "waiting",
  ],
  [
    "another client else has the name of that certificate",
    seenWith(standalone, {}, { material: stackMaterial("foreign") }),
    "foreignSecret",
    "stalled",
  ],
  [
    "the stack runs, and is to have no Grafana",
    seenWith(stacked("Standalone", { isGrafanaEnabled: false }), {
      deployments: running(...everything.filter((name) => name !== "logs-grafana")),
    }),
    "keepObjects",
    "settled",
  ],
  [
    "Grafana was left out of the stack",
    seenWith(stacked("Standalone", { isGrafanaEnabled: false }), {
      present: [ours(deployments, "logs-grafana")],
      deployments: running(...everything),
    }),
    "prune",
    "waiting",
  ],
  ["nothing is there", seenWith(none), "keepObjects", "waiting"],
  ["the exporter runs", seenWith(none, { deployments: running("logs-exporter") }), "keepObjects", "settled"],
  [
    "the exporter runs and its stack does not",
    seenWith(standalone, { deployments: running("logs-exporter") }),
    "keepObjects",
    "waiting",
  ],
  ["the stack runs", seenWith(standalone, { deployments: running(...everything) }), "keepObjects", "settled"],
  [
    "prometheus-operator is asked for and not served",
    seenWith(stacked("Operator"), { deployments: running("logs-exporter") }),
    "keepObjects",
    "settled",
  ],
])("%s", ([, seen, rule, outcome]) => {
  const decision = decideLane(monitoringLane, seen, now);
  expect([decision.rule, decision.outcome.kind]).toEqual([rule, outcome]);
});

test("kinds that are served take the place of files; a stack of our own keeps its files", () => {
  const exporter = [
    "ConfigMap logs-exporter",
    "Service logs-exporter",
    "Deployment logs-exporter",
    "NetworkPolicy logs-exporter",
  ];
  expect(output(seenWith(none))).toEqual([
    ...exporter,
    "ConfigMap logs-alerts",
    "ConfigMap logs-grafana-dashboards",
  ]);
  const dashboards = ["overview", "nodes", "traffic", "operator"].map(
    (name) => `GrafanaDashboard logs-grafana-dashboards-${name}`,
  );
  expect(output(seenWith(none, { served: all }))).toEqual([
    ...exporter,
    "ServiceMonitor logs-monitor",
    "PrometheusRule logs-alerts",
    ...dashboards,
  ]);
  expect(output(seenWith(stacked("Operator"), { served: all })).slice(10)).toEqual([
    "Secret logs-prometheus-scrape",
    "Service logs-alertmanager",
    "Prometheus logs-prometheus",
    "Alertmanager logs-alertmanager",
  ]);
  expect(output(seenWith(standalone, { served: all }))).toEqual(
    expect.arrayContaining([
      "ConfigMap logs-alerts",
      "ConfigMap logs-grafana-dashboards",
      "Deployment logs-grafana",
    ]),
  );
});

test("an event is recorded when the exporter first runs, and when something is removed", () => {
  const ready = { deployments: running("logs-exporter") };
  expect(output(seenWith(none, ready))).toContain("record");
  const before = { ...formed, monitoring: { exporter: "Ready" as const } };
  expect(output(seenWith(none, ready, { status: before }))).not.toContain("record");
  expect(output(seenWith(aSearchCluster(), { present: [ours(deployments, "logs-exporter")] }))).toEqual([
    "prune logs-exporter",
    "record",
  ]);
  expect(output(seenWith(aSearchCluster(), { present: [ours(services, "logs-exporter")] }))).toEqual([
    "prune logs-exporter",
  ]);
});

test("switched on or off, no node has another input, and no StatefulSet differs", () => {
  const followed = { keystore: {}, volumes: {} };
  for (const off of [aSearchCluster(), anElasticsearch("7.17.28")])
    for (const mode of ["None", "Operator", "Standalone"] as const) {
      const settings = aMonitoring();
      const on = { ...off, monitoring: { ...settings, stack: { ...settings.stack, mode } } };
      const hash = poolInputsHash(off, aPool(), followed);
      expect(poolInputsHash(on, aPool(), followed)).toBe(hash);
      const setOf = (cluster: SearchCluster): object =>
        poolStatefulSet(cluster, aPool(), { inputsHash: hash });
      expect(setOf(on)).toEqual(setOf(off));
    }
});

describe("the exporter", () => {
  test("is told where the engine is and how many nodes there are to be, and no secret", () => {
    const text =
      exporterConfigMap(aSearchCluster({ pools: [aPool({ replicas: 3 })] })).data?.["config.json"] ?? "";
    expect(readExporterConfig(text)).toEqual({
      cluster: "logs",
      distribution: "opensearch",
      host: "logs.team.svc",
      port: 9200,
      serverName: "logs.team.svc",
      expectedNodes: 3,
    });
  });

  test("meets the restricted profile, has no token, and sees the CA of the engine but not its key", () => {
    const { spec } = exporterDeployment(none, aMonitoring()).spec.template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(spec.containers[0]).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    });
    const trust = spec.volumes?.find(({ name }) => name === "trust");
    expect(trust?.secret).toMatchObject({ secretName: "logs-http-cert", items: [{ key: "ca.crt" }] });
    expect(JSON.stringify(spec)).not.toContain("env");
  });

  test("logs in with the account that the author names", () => {
    const { spec } = exporterDeployment(none, aMonitoring({ userSecret: "theirs" })).spec.template;
    expect(spec.volumes?.find(({ name }) => name === "login")?.secret).toMatchObject({
      secretName: "theirs",
    });
  });

  test("reaches nodes whose port the author has closed to others", () => {
    const closed = { networkPolicy: { isEnabled: true, from: [{ namespaceSelector: {} }] } };
    expect(JSON.stringify(networkPolicy({ ...none, ...closed }))).toContain(
      '"search.quartermaster.dev/monitoring-part":"exporter"',
    );
    expect(JSON.stringify(networkPolicy(aSearchCluster(closed)))).not.toContain("monitoring");
  });

  test("so does the operator, which the author need not name", () => {
    const from = [{ namespaceSelector: {} }];
    const closed = { networkPolicy: { isEnabled: true, from }, operatorNamespace: "operators" };
    expect(networkPolicy(aSearchCluster(closed)).spec?.ingress?.[1]).toMatchObject({
      from: [
        from[0],
        { podSelector: {} },
        {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "operators" } },
          podSelector: { matchLabels: { "app.kubernetes.io/name": "quartermaster-operator" } },
        },
      ],
    });
    const open = { ...closed, networkPolicy: { isEnabled: true, from: [] } };
    expect(networkPolicy(aSearchCluster(open)).spec?.ingress?.[1]).not.toHaveProperty("from");
  });
});

test("its user has one role, with nothing but reads of figures", () => {
  const user = (username: string): { username: string; hash: string } => ({ username, hash: "h" });
  const content = wantedContent(undefined, {
    admin: user("admin"),
    dashboards: undefined,
    operator: undefined,
    monitoring: user("quartermaster-monitoring"),
  });
  const role = content.roles["quartermaster_monitoring"] as Record<string, readonly string[]>;
  expect(role).not.toHaveProperty("index_permissions");
  for (const permission of role["cluster_permissions"] ?? [])
    expect(permission).toMatch(/^cluster:monitor\/\*$|\/get$/);
  const mapped = Object.entries(content.rolesmapping).filter(([, entry]) =>
    JSON.stringify(entry).includes("quartermaster-monitoring"),
  );
  expect(mapped).toEqual([["quartermaster_monitoring", { users: ["quartermaster-monitoring"] }]]);
});

test("a cluster that names no image gets the operator's, and no stack is requested where ServiceMonitors are served", () => {
  const unserved = { follow: () => undefined };
  const open = stacked(undefined);
  const resolved = withStack(open, unserved, "registry/exporter:1").monitoring;
  expect([resolved?.image.name, resolved?.stack.mode]).toEqual(["registry/exporter:1", "Standalone"]);
  const own = aSearchCluster({ monitoring: aMonitoring({ image: { name: "theirs", pullSecrets: [] } }) });
  expect(withStack(own, unserved, "registry/exporter:1").monitoring?.image.name).toBe("theirs");
  const forbidden = {
    follow: (): never => {
      throw new ApiError("forbidden", { class: "forbidden", mayHaveActed: false });
    },
  };
  expect(withStack(open, forbidden).monitoring?.stack.mode).toBe("Standalone");
  const definition = { served: ["v1"] } as unknown as undefined;
  expect(withStack(open, { follow: () => definition }).monitoring?.stack.mode).toBe("None");
});

describe("a declaration", () => {
  const issuesOf = (monitoring: object): readonly string[] => {
    const cluster = aSearchCluster({ monitoring: aMonitoring(monitoring) });
    return checkCluster(cluster, { nodePools: [] } as unknown as Parameters<typeof checkCluster>[1]).map(
      ({ path }) => path.replace("spec.general.monitoring.", ""),
    );
  };

  test.each<[string, object, readonly string[]]>([
    ["nothing said", {}, []],
    ["an interval", { scrapeInterval: "15s" }, []],
    ["no interval", { scrapeInterval: "often" }, ["scrapeInterval"]],
    ["a label of its own", { relabelings: [{ targetLabel: "team", replacement: "a" }] }, []],
    ["figures dropped", { metricRelabelings: [{ action: "drop", sourceLabels: ["a"], regex: "b" }] }, []],
    ["another address", { relabelings: [{ targetLabel: "__address__" }] }, ["relabelings[0].targetLabel"]],
    ["another namespace", { relabelings: [{ targetLabel: "namespace" }] }, ["relabelings[0].targetLabel"]],
    [
      "another cluster",
      { metricRelabelings: [{ targetLabel: "cluster" }] },
      ["metricRelabelings[0].targetLabel"],
    ],
    ["labels in bulk", { relabelings: [{ action: "LabelMap", regex: "(.*)" }] }, ["relabelings[0].action"]],
    ["a reference", { relabelings: [{ targetLabel: "$1" }] }, ["relabelings[0].targetLabel"]],
  ])("%s", (_name, monitoring, want) => {
    expect(issuesOf(monitoring)).toEqual(want);
  });

  test("names no pool like a part of it", () => {
    const cluster = aSearchCluster({ monitoring: aMonitoring(), pools: [aPool({ name: "exporter" })] });
    const issues = checkCluster(cluster, { nodePools: [] } as unknown as Parameters<typeof checkCluster>[1]);
    expect(issues.map(({ path }) => path)).toEqual(["spec.nodePools[0].component"]);
  });
});

describe("the status", () => {
  test("says what was made, how the exporter is, and which APIs are absent", () => {
    const present = [ours(deployments, "logs-exporter"), ours(configMaps, "logs-alerts")];
    const seen = seenWith(none, {
      present,
      served: new Set(["GrafanaDashboard"]),
      deployments: running("logs-exporter"),
    });
    expect(monitoringReport(seen)).toEqual({
      exporter: "Ready",
      stack: "None",
      objects: ["ConfigMap logs-alerts", "Deployment logs-exporter"],
      absentApis: [
        "monitoring.coreos.com/v1 ServiceMonitor",
        "monitoring.coreos.com/v1 PrometheusRule",
        "monitoring.coreos.com/v1 Prometheus",
        "monitoring.coreos.com/v1 Alertmanager",
      ],
    });
    expect(monitoringReport(seenWith(aSearchCluster()))).toBeUndefined();
    expect(Object.keys(monitoringKinds)).toHaveLength(5);
  });
});
