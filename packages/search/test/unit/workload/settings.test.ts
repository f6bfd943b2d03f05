import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { encodeSettings, readSettings } from "../../../src/model/read-settings.ts";
import type { SearchCluster } from "../../../src/model/search-cluster.ts";
import { bootstrapConfigMap, clusterConfigMaps } from "../../../src/workload/cluster-config-maps.ts";
import { jvmOptions, refusedJvmOptions } from "../../../src/workload/jvm-options.ts";
import { nodeSettings } from "../../../src/workload/node-settings.ts";
import { workloadIssues } from "../../../src/workload/workload-issues.ts";
import { anElasticsearch, aPool, aSearchCluster, noSettings } from "../../a-search-cluster.ts";

const nastyTexts = [
  "a: b\nnode.name: evil",
  "\u2028x",
  "# no comment",
  "'\"\\",
  "[",
  "${POD_IP}",
  "\u0000\u007f",
  "ü",
];

describe("encodeSettings", () => {
  test.for(nastyTexts)("[security/69] keeps %j the value of its key", (text) => {
    expect(parse(encodeSettings({ "some.key": text, list: [text, "b"] }))).toEqual({
      "some.key": text,
      list: [text, "b"],
    });
  });

  test("writes one line per setting, sorted", () => {
    expect(encodeSettings({ "b.c": true, "a.z": 1, "a.b": "x\ny" })).toBe(
      'a.b: "x\\ny"\na.z: 1\nb.c: true\n',
    );
  });
});

describe("readSettings", () => {
  test.for([
    { name: "a number stays text", given: { a: "0123" }, want: { a: "0123" } },
    { name: "a truth value stays text", given: { a: "true" }, want: { a: "true" } },
    { name: "a list", given: { a: "[x, 'y']" }, want: { a: ["x", "y"] } },
    { name: "a mapping stands for the keys below", given: { a: "{b: {c: 1}}" }, want: { "a.b.c": "1" } },
    { name: "nothing is empty text", given: { a: "" }, want: { a: "" } },
  ])("$name", ({ given, want }) => {
    expect(readSettings(given)).toEqual({ settings: want, unreadable: [] });
  });

  test.for(["[", "&a [*a, *a]", "[[1]]", "[{a: b}]", "a: b\na: c"])("%j is unreadable", (text) => {
    expect(readSettings({ key: text })).toEqual({ settings: {}, unreadable: ["key"] });
  });
});

describe("nodeSettings", () => {
  test("a pool's settings win over the cluster's, and ours over both", () => {
    const pool = aPool({ config: { "indices.query.bool.max_clause_count": "2", "cluster.name": "other" } });
    const cluster = aSearchCluster({
      config: { "indices.query.bool.max_clause_count": "1", "node.attr.x": "y" },
      pools: [pool],
    });
    expect(nodeSettings(cluster, pool)).toMatchObject({
      "cluster.name": "logs",
      "node.attr.x": "y",
      "indices.query.bool.max_clause_count": "2",
    });
  });

  test.for<{ name: string; cluster: SearchCluster; want: object }>([
    {
      name: "OpenSearch 2",
      cluster: aSearchCluster(),
      want: { "node.roles": ["cluster_manager", "data", "ingest"] },
    },
    {
      name: "OpenSearch 1",
      cluster: aSearchCluster({ version: "1.3.0" }),
      want: { "node.roles": ["master", "data", "ingest"] },
    },
    {
      name: "names are checked at a reload below 2.19",
      cluster: aSearchCluster({ version: "2.18.0" }),
      want: { "plugins.security.ssl_cert_reload_enabled": true },
    },
    {
      name: "Elasticsearch 8",
      cluster: anElasticsearch("8.19.0"),
      want: {
        "node.roles": ["master", "data", "ingest"],
        "readiness.port": 9400,
        "xpack.security.http.ssl.enabled": true,
      },
    },
  ])("$name", ({ cluster, want }) => {
    expect(nodeSettings(cluster, aPool())).toMatchObject(want);
  });

  test("settings that a version does not know are left out: it would not start", () => {
    expect(Object.keys(nodeSettings(aSearchCluster({ version: "2.18.0" }), aPool()))).not.toContain(
      "plugins.security.ssl.http.enforce_cert_reload_dn_verification",
    );
    const old = Object.keys(nodeSettings(anElasticsearch("7.17.28"), aPool()));
    expect(old.filter((key) => /readiness|autoconfiguration/.test(key))).toEqual([]);
  });

  test("a coordinating node has no roles", () => {
    expect(nodeSettings(aSearchCluster(), aPool({ roles: ["coordinating_only"] }))["node.roles"]).toEqual([]);
  });

  test("without security the plugin is off and no certificate is named", () => {
    const { security } = aSearchCluster();
    const cluster = aSearchCluster({ security: { ...security, isEnabled: false } });
    const keys = Object.keys(nodeSettings(cluster, aPool())).filter((key) => key.startsWith("plugins."));
    expect(keys).toEqual(["plugins.security.disabled"]);
  });
});

describe("configuration in ConfigMaps", () => {
  test("each pool has the whole file", () => {
    const pools = [aPool({ name: "managers" }), aPool({ name: "data" })];
    const maps = clusterConfigMaps(aSearchCluster({ pools }));
    expect(maps.map(({ metadata }) => metadata.name)).toEqual([
      "logs-config",
      "logs-managers-config",
      "logs-data-config",
    ]);
    expect(parse(maps[1]?.data?.["opensearch.yml"] ?? "")).toMatchObject({ "node.name": "${POD_NAME}" });
  });

  test.for([
    {
      name: "OpenSearch",
      cluster: aSearchCluster(),
      want: 'cluster.initial_cluster_manager_nodes: ["a-0","a-1"]\n',
    },
    {
      name: "Elasticsearch",
      cluster: anElasticsearch("7.17.28"),
      want: 'cluster.initial_master_nodes: ["a-0","a-1"]\n',
    },
  ])("the first managers of $name are a setting, and none is no setting", ({ cluster, want }) => {
    expect(bootstrapConfigMap(cluster, ["a-0", "a-1"]).data).toEqual({ "initial-managers.yml": want });
    expect(bootstrapConfigMap(cluster, []).data).toEqual({ "initial-managers.yml": "" });
  });
});

describe("options of the JVM", () => {
  test.for([
    { name: "the author's", given: { jvm: " -Xmx1g ", resources: undefined }, want: "-Xmx1g" },
    {
      name: "without anything 512 MiB",
      given: { jvm: undefined, resources: undefined },
      want: "-Xms512m -Xmx512m",
    },
    {
      name: "half of the limit",
      given: { jvm: "", resources: { limits: { memory: "4Gi" } } },
      want: "-Xms2048m -Xmx2048m",
    },
    {
      name: "half of the request",
      given: { jvm: undefined, resources: { requests: { memory: "2000M" } } },
      want: "-Xms953m -Xmx953m",
    },
    {
      name: "never above 31 GiB",
      given: { jvm: undefined, resources: { limits: { memory: "1Ti" } } },
      want: "-Xms31744m -Xmx31744m",
    },
  ])("$name", ({ given, want }) => {
    expect(jvmOptions(given)).toBe(want);
  });

  test.for([
    "-XX:OnError=sh",
    "-XX:OnOutOfMemoryError=kill",
    "-XX:Flags=/tmp/x",
    "-XX:VMOptionsFile=/tmp/x",
    "-agentlib:jdwp=launch=sh",
    "-javaagent:/tmp/a.jar",
    "@/tmp/options",
    "-Dx=`id`",
    "-Dx=$(id)",
  ])("[security/71] %s is refused", (option) => {
    expect(refusedJvmOptions(`-Xmx1g ${option}`)).toEqual([option]);
  });

  test("ordinary ones are not", () => {
    expect(refusedJvmOptions("-Xmx1g -XX:+UseG1GC -Dhttp.proxyHost=a -Xlog:gc*=info")).toEqual([]);
  });
});

describe("workloadIssues", () => {
  const policy = { pluginHosts: ["plugins.example"] };

  test("nothing to say about a plain cluster", () => {
    expect(workloadIssues(aSearchCluster(), policy)).toEqual([]);
  });

  test("[security/69] all reserved settings together, wherever they hide", () => {
    const cluster = aSearchCluster({
      config: { "cluster.name": "x", discovery: "{seed_hosts: [a]}", path: "{data: /tmp}" },
      pod: { ...noSettings, container: { env: [{ name: "cluster.initial_master_nodes", value: "me" }] } },
      pools: [
        aPool({
          config: { "plugins.security.ssl.http.pemkey_filepath": "x", "a b": "c", broken: "[" },
          jvm: "-XX:OnError=sh",
        }),
      ],
    });
    expect(workloadIssues(cluster, policy).map(({ path, reason }) => `${reason} ${path}`)).toEqual([
      "ReservedSetting spec.general.additionalConfig.cluster.name",
      "ReservedSetting spec.general.additionalConfig.discovery.seed_hosts",
      "ReservedSetting spec.general.additionalConfig.path.data",
      "ReservedSetting spec.general.env[0]",
      "InvalidSpec spec.nodePools[0].additionalConfig.broken",
      "InvalidSpec spec.nodePools[0].additionalConfig.a b",
      "ReservedSetting spec.nodePools[0].additionalConfig.plugins.security.ssl.http.pemkey_filepath",
      "InvalidSpec spec.nodePools[0].jvm",
    ]);
  });

  test.for(["discovery", "dashboards"])("a pool called %s would take a Service of the cluster", (name) => {
    const issues = workloadIssues(aSearchCluster({ pools: [aPool(), aPool({ name })] }), policy);
    expect(issues.map(({ path }) => path)).toEqual(["spec.nodePools[1].component"]);
  });

  test.for([
    { plugin: "analysis-icu", isAllowed: true },
    { plugin: "https://plugins.example/a.zip", isAllowed: true },
    { plugin: "http://plugins.example/a.zip", isAllowed: false },
    { plugin: "https://plugins.example.evil/a.zip", isAllowed: false },
    { plugin: "https://plugins.example@evil/a.zip", isAllowed: false },
    { plugin: "file:///etc/passwd", isAllowed: false },
    { plugin: "--help", isAllowed: false },
    { plugin: "org.evil:plugin:1", isAllowed: false },
  ])("[security/70] plugin $plugin: allowed $isAllowed", ({ plugin, isAllowed }) => {
    const issues = workloadIssues(aSearchCluster({ plugins: [plugin] }), policy);
    expect(issues.map(({ reason }) => reason)).toEqual(isAllowed ? [] : ["PluginSourceNotAllowed"]);
  });
});
