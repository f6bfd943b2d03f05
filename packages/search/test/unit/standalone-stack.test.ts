import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { listOf } from "@quartermaster/runtime";
import type { ConfigMap, Deployment, NetworkPolicy } from "@quartermaster/runtime/kinds";
import { prometheusProgram } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import type { MonitoringSettings } from "../../src/model/read-monitoring.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import { operatorStack } from "../../src/monitoring/operator-stack.ts";
import { standaloneStack } from "../../src/monitoring/standalone-stack.ts";
import { aMonitoring, aSearchCluster } from "../a-search-cluster.ts";

function settingsWith(
  stack: Partial<MonitoringSettings["stack"]> = {},
  changes: Partial<MonitoringSettings> = {},
): MonitoringSettings {
  const settings = aMonitoring(changes);
  return { ...settings, stack: { ...settings.stack, mode: "Standalone", ...stack } };
}

function clusterWith(settings: MonitoringSettings): SearchCluster {
  return aSearchCluster({ monitoring: settings });
}

interface Made {
  readonly deployment: Deployment;
  readonly config: ConfigMap;
  readonly policy: NetworkPolicy;
}

function made(
  settings: MonitoringSettings,
  part: (typeof parts)[number],
  followed: Readonly<Record<string, string>> = {},
): Made {
  const own = standaloneStack(clusterWith(settings), settings, { followed, readAtStart: {} }).filter(
    ({ object }) => object.metadata.name === `logs-${part}`,
  );
  const of = (kind: string): unknown => own.find((each) => each.kind.kind === kind)?.object;
  return {
    deployment: of("Deployment") as Deployment,
    config: of("ConfigMap") as ConfigMap,
    policy: of("NetworkPolicy") as NetworkPolicy,
  };
}

const parts = ["prometheus", "alertmanager", "grafana"] as const;

describe.each(parts)("%s", (part) => {
  const { spec } = made(settingsWith(), part).deployment.spec.template;
  const [container] = spec.containers;

  test("meets the restricted profile with a read-only root, and has no token", () => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(container).toMatchObject({
      image: part,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
    });
  });

  test("has no secret in arguments or environment", () => {
    expect(JSON.stringify(container)).not.toMatch(/"env"|password/i);
  });

  test("restarts when its files or a Secret of the author change, and not otherwise", () => {
    const hash = (settings: MonitoringSettings, followed: Readonly<Record<string, string>> = {}): unknown =>
      made(settings, part, followed).deployment.spec.template.metadata?.annotations;
    expect(hash(settingsWith())).toEqual(hash(settingsWith()));
    expect(hash(settingsWith(), { oncall: "2" })).not.toEqual(hash(settingsWith(), { oncall: "1" }));
  });

  test("is reached by the stack alone, unless it requests a login", () => {
    const [rule] = made(settingsWith(), part).policy.spec?.ingress ?? [];
    expect("from" in (rule ?? {})).toBe(part !== "grafana");
  });
});

test("the operator reaches Prometheus where it asks it, by namespace and label, and nothing else of the stack", () => {
  const from = (part: (typeof parts)[number], queriedFrom?: string): readonly unknown[] =>
    listOf(made(settingsWith({ queriedFrom }), part).policy.spec?.ingress?.[0], "from");
  expect(from("prometheus")).toHaveLength(1);
  expect(from("alertmanager", "quartermaster")).toHaveLength(1);
  expect(from("prometheus", "quartermaster")[1]).toEqual({
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "quartermaster" } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": "quartermaster-operator" } },
  });
});

test("every part serves TLS, and Prometheus verifies whom it sends alerts to", () => {
  for (const part of parts) {
    const { spec } = made(settingsWith(), part).deployment.spec.template;
    expect(spec.containers[0]?.readinessProbe).toMatchObject({ httpGet: { scheme: "HTTPS" } });
    expect(JSON.stringify(spec.volumes)).toContain('"secretName":"logs-monitoring-cert"');
  }
  const { data = {} } = made(settingsWith(), "prometheus").config;
  expect(parse(data["prometheus.json"] ?? "")).toMatchObject({
    alerting: {
      alertmanagers: [
        {
          scheme: "https",
          tls_config: {
            ca_file: "/etc/monitoring-certificate/ca.crt",
            server_name: "logs-alertmanager.team.svc",
          },
        },
      ],
    },
  });
  expect(JSON.stringify(data)).not.toContain("insecure");
  expect(made(settingsWith(), "grafana").config.data?.["grafana.ini"]).toContain("protocol = https");
});

test("a renewed certificate restarts Grafana, which reads it only when it starts, and no one else", () => {
  const settings = settingsWith();
  const hashes = (certificate: string): readonly unknown[] =>
    standaloneStack(clusterWith(settings), settings, { followed: {}, readAtStart: { certificate } })
      .filter(({ kind }) => kind.kind === "Deployment")
      .map(({ object }) => (object as Deployment).spec.template.metadata?.annotations);
  const [before, after] = [hashes("old"), hashes("new")];
  expect(before.map((each, at) => JSON.stringify(each) === JSON.stringify(after[at]))).toEqual([
    true,
    true,
    false,
  ]);
});

test("receivers of the author's are read from their Secret, beside our own files", () => {
  const { spec } = made(settingsWith({ receiversSecret: "oncall" }), "alertmanager").deployment.spec.template;
  expect(spec.volumes).toEqual(
    expect.arrayContaining([
      { name: "config", secret: { secretName: "oncall" } },
      {
        name: "web",
        configMap: { name: "logs-alertmanager", items: [{ key: "web.json", path: "web.json" }] },
      },
    ]),
  );
});

test("Prometheus keeps its figures in the pod, or in a claim of the author's", () => {
  const volumes = (settings: MonitoringSettings): string =>
    JSON.stringify(made(settings, "prometheus").deployment.spec.template.spec.volumes);
  expect(volumes(settingsWith())).toContain('{"name":"data","emptyDir":{}}');
  expect(volumes(settingsWith({ claimName: "figures" }))).toContain('"claimName":"figures"');
});

test("Grafana finds the data source and the dashboards, and reads its login from files", () => {
  const { data = {} } = made(settingsWith(), "grafana").config;
  expect(parse(data["datasources.yaml"] ?? "")).toMatchObject({
    datasources: [
      {
        type: "prometheus",
        url: "https://logs-prometheus.team.svc:9090",
        jsonData: { tlsAuthWithCACert: true },
        secureJsonData: { tlsCACert: "$__file{/etc/monitoring-certificate/ca.crt}" },
      },
    ],
  });
  expect(parse(data["dashboards.yaml"] ?? "")).toMatchObject({
    providers: [{ options: { path: "/etc/grafana-dashboards" } }],
  });
  expect(data["grafana.ini"]).toContain("admin_password = $__file{/etc/grafana-login/password}");
});

test("objects of prometheus-operator discover nothing, and none is made where they are not served", () => {
  const settings = settingsWith({ mode: "Operator" });
  expect(operatorStack(clusterWith(settings), settings, new Set(["ServiceMonitor"]))).toEqual([]);
  const all = operatorStack(clusterWith(settings), settings, new Set(["Prometheus", "Alertmanager"]));
  const [secret] = all.map(({ object }) => object as { data?: Readonly<Record<string, string>> });
  const scrape = Buffer.from(secret?.data?.["scrape.yaml"] ?? "", "base64").toString();
  expect(parse(scrape)).toMatchObject([{ static_configs: [{ targets: ["logs-exporter.team.svc:9114"] }] }]);
  expect(JSON.stringify(all)).not.toContain("_sd_configs");
  const prometheus = all.find(({ kind }) => kind.kind === "Prometheus")?.object;
  const ofCluster = { matchLabels: { "search.quartermaster.dev/monitoring": "logs" } };
  expect(prometheus).toMatchObject({ spec: { ruleSelector: ofCluster, probeSelector: ofCluster } });
});

const promtool = prometheusProgram("promtool");

test.skipIf(promtool === undefined)(
  "promtool accepts the configuration, an author's relabelings included (skipped where Debian's package prometheus cannot be had)",
  () => {
    const settings = settingsWith(
      {},
      {
        relabelings: [{ targetLabel: "team", replacement: "blue" }],
        metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "opensearch_os_.*" }],
      },
    );
    const { data = {} } = made(settings, "prometheus").config;
    const directory = mkdtempSync(join(tmpdir(), "prometheus-config-"));
    try {
      const path = join(directory, "prometheus.json");
      writeFileSync(path, data["prometheus.json"] ?? "");
      const { status, stdout, stderr } = spawnSync(promtool ?? "", ["check", "config", path], {
        encoding: "utf8",
      });
      expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
