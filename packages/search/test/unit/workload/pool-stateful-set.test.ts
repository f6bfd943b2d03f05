import { describe, expect, test } from "vitest";

import type { NodePool, SearchCluster } from "../../../src/model/search-cluster.ts";
import { clusterServices } from "../../../src/workload/cluster-services.ts";
import { poolInputsHash } from "../../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../../src/workload/pool-stateful-set.ts";
import { workloadIssues } from "../../../src/workload/workload-issues.ts";
import { anElasticsearch, aPool, aSearchCluster, noSettings } from "../../a-search-cluster.ts";

type Template = ReturnType<typeof poolStatefulSet>["spec"]["template"];

function templateOf(cluster: SearchCluster, pool: NodePool = aPool()): Template {
  return poolStatefulSet(cluster, pool, { inputsHash: "h" }).spec.template;
}

function engineOf(cluster: SearchCluster, pool: NodePool = aPool()): Template["spec"]["containers"][number] {
  const [engine] = templateOf(cluster, pool).spec.containers;
  if (engine === undefined) throw new Error("no container");
  return engine;
}

function prepareArguments(cluster: SearchCluster): readonly string[] {
  return templateOf(cluster).spec.initContainers?.at(-1)?.command?.slice(4) ?? [];
}

describe("poolStatefulSet", () => {
  test("starts all pods at once, changes none on its own and keeps volumes", () => {
    const { spec, metadata } = poolStatefulSet(aSearchCluster(), aPool({ replicas: 3 }), { inputsHash: "h" });
    expect(metadata).toMatchObject({ name: "logs-nodes", namespace: "team" });
    expect(spec).toMatchObject({
      replicas: 3,
      serviceName: "logs-nodes",
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    });
    expect(spec.template.metadata?.labels).toMatchObject(spec.selector.matchLabels ?? {});
    expect(spec.volumeClaimTemplates?.map((claim) => claim.metadata.name)).toEqual(["data"]);
  });

  test("holds the number of pods back where a lane says so", () => {
    expect(
      poolStatefulSet(aSearchCluster(), aPool({ replicas: 3 }), { inputsHash: "h", replicas: 2 }).spec
        .replicas,
    ).toBe(2);
  });

  test.for([
    {
      name: "emptyDir",
      storage: { kind: "emptyDir", source: { sizeLimit: "1Gi" } } as const,
      want: { name: "data", emptyDir: { sizeLimit: "1Gi" } },
    },
    {
      name: "hostPath",
      storage: { kind: "hostPath", source: { path: "/data" } } as const,
      want: { name: "data", hostPath: { path: "/data" } },
    },
  ])("$name is a volume of the pod, without a claim", ({ storage, want }) => {
    const { spec } = poolStatefulSet(aSearchCluster(), aPool({ storage }), { inputsHash: "h" });
    expect(spec.volumeClaimTemplates).toBeUndefined();
    expect(spec.template.spec.volumes).toContainEqual(want);
  });
});

describe("pods of a pool", () => {
  test("every container meets the restricted profile with a read-only root, and there is no token", () => {
    const { spec } = templateOf(
      aSearchCluster({ plugins: ["analysis-icu"], keystore: [{ secretName: "s", keys: {} }] }),
    );
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])])
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      });
  });

  test("[security/70] what an author writes is an argument of prepare and never part of its script", () => {
    const text = ["$(touch /tmp/a)", "`id`", "; rm -rf /", "--", "-"];
    const cluster = aSearchCluster({
      plugins: text,
      keystore: [
        { secretName: "s", keys: { "$(id)": "name; id" } },
        { secretName: "t", keys: {} },
      ],
    });
    const [shell, flag, script, ...rest] = templateOf(cluster).spec.initContainers?.[0]?.command ?? [];
    expect([shell, flag]).toEqual(["/bin/bash", "-c"]);
    expect(script).toBe(templateOf(aSearchCluster()).spec.initContainers?.[0]?.command?.[2]);
    expect(rest.slice(10)).toEqual([
      "one",
      "/keystore/0/$(id)",
      "name; id",
      "all",
      "/keystore/1",
      "--",
      ...text,
    ]);
  });

  test.for([
    { name: "decided on the machine", config: {}, want: "auto" },
    { name: "the author's", config: { "node.store.allow_mmap": "true" }, want: "given" },
  ])("mmap is $name", ({ config, want }) => {
    expect(prepareArguments(aSearchCluster({ config }))[7]).toBe(want);
  });

  test("only managers see the names of the first managers", () => {
    const volumes = (pool: NodePool): readonly string[] =>
      templateOf(aSearchCluster(), pool).spec.volumes?.map(({ name }) => name) ?? [];
    expect(volumes(aPool())).toContain("bootstrap");
    expect(volumes(aPool({ roles: ["data"] }))).not.toContain("bootstrap");
  });

  test("certificates of both layers are one volume, and whom nodes trust is in our own Secrets", () => {
    const { security } = aSearchCluster();
    const http = { ...security.http, isGenerated: false, secret: "theirs" };
    const { volumes = [] } = templateOf(aSearchCluster({ security: { ...security, http } })).spec;
    const sources = volumes.find(({ name }) => name === "certificates")?.projected?.sources;
    expect(sources?.map((source) => JSON.stringify(source))).toEqual([
      '{"secret":{"name":"logs-transport-cert","items":[{"key":"tls.crt","path":"transport.crt"},{"key":"tls.key","path":"transport.key"}]}}',
      '{"secret":{"name":"logs-transport-cert","items":[{"key":"ca.crt","path":"transport-ca.crt"}]}}',
      '{"secret":{"name":"theirs","items":[{"key":"tls.crt","path":"http.crt"},{"key":"tls.key","path":"http.key"}]}}',
      '{"secret":{"name":"logs-http-cert","items":[{"key":"ca.crt","path":"http-ca.crt"}]}}',
    ]);
  });

  test("without security no certificate is mounted", () => {
    const { security } = aSearchCluster();
    const { volumes = [] } = templateOf(aSearchCluster({ security: { ...security, isEnabled: false } })).spec;
    expect(volumes.map(({ name }) => name)).not.toContain("certificates");
  });

  test.for([
    {
      name: "OpenSearch",
      cluster: aSearchCluster(),
      want: { httpGet: { path: "/_plugins/_security/health", port: 9200, scheme: "HTTPS" } },
    },
    { name: "Elasticsearch 8", cluster: anElasticsearch("8.19.0"), want: { tcpSocket: { port: 9400 } } },
    { name: "Elasticsearch 7", cluster: anElasticsearch("7.17.28"), want: { tcpSocket: { port: 9200 } } },
  ])("$name is ready without a login", ({ cluster, want }) => {
    expect(engineOf(cluster)).toMatchObject({
      readinessProbe: want,
      livenessProbe: { tcpSocket: { port: 9200 } },
    });
  });

  test("Elasticsearch finds its users in a directory that kubelet refreshes", () => {
    expect(engineOf(anElasticsearch("7.17.28")).volumeMounts).toContainEqual({
      name: "file-realm",
      mountPath: "/usr/share/elasticsearch/config/file-realm",
      readOnly: true,
    });
  });
});

describe("what authors say of pods", () => {
  test("a pool's fields win over the cluster's, and both over ours", () => {
    const cluster = aSearchCluster({
      pod: {
        ...noSettings,
        labels: { a: "1", b: "1" },
        spec: { nodeSelector: { disk: "ssd" }, priorityClassName: "low" },
      },
    });
    const pool = aPool({ pod: { ...noSettings, labels: { b: "2" }, spec: { priorityClassName: "high" } } });
    const { metadata, spec } = templateOf(cluster, pool);
    expect(metadata?.labels).toMatchObject({ a: "1", b: "2" });
    expect(spec).toMatchObject({ nodeSelector: { disk: "ssd" }, priorityClassName: "high" });
  });

  test("labels, identity, volumes and containers of ours stay", () => {
    const own = { "opensearch.org/opensearch-cluster": "other" };
    const cluster = aSearchCluster({
      pod: {
        ...noSettings,
        labels: own,
        spec: { containers: [], volumes: [], initContainers: [] },
        container: {
          env: [
            { name: "POD_NAME", value: "other" },
            { name: "TZ", value: "UTC" },
          ],
          image: "other",
        },
      },
    });
    const { metadata, spec } = templateOf(cluster);
    expect(metadata?.labels).toMatchObject({ "opensearch.org/opensearch-cluster": "logs" });
    expect(spec.initContainers?.map(({ name }) => name)).toEqual(["prepare"]);
    const [engine] = spec.containers;
    expect(engine?.image).toContain("opensearchproject");
    expect(engine?.env?.filter(({ name }) => name === "POD_NAME")).toEqual([
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ]);
    expect(engine?.env).toContainEqual({ name: "TZ", value: "UTC" });
  });

  test("no label of an author's makes a data node a manager", () => {
    const labels = { "search.quartermaster.dev/manager": "true" };
    const { metadata } = templateOf(
      aSearchCluster({ pod: { ...noSettings, labels } }),
      aPool({ roles: ["data"] }),
    );
    expect(metadata?.labels).toMatchObject({ "search.quartermaster.dev/manager": "false" });
  });

  test("a probe keeps our question unless the author has another", () => {
    const patient = { readinessProbe: { failureThreshold: 9 } };
    expect(
      engineOf(aSearchCluster({ pod: { ...noSettings, container: patient } })).readinessProbe,
    ).toMatchObject({
      failureThreshold: 9,
      httpGet: { port: 9200 },
    });
    const other = { readinessProbe: { exec: { command: ["true"] } } };
    expect(
      engineOf(aSearchCluster({ pod: { ...noSettings, container: other } })).readinessProbe,
    ).not.toHaveProperty("httpGet");
  });

  test("an additional volume is mounted where it says", () => {
    const volumes = [
      { name: "words", path: "/words", subPath: "de", restartPods: true, configMap: { name: "words" } },
    ];
    const template = templateOf(aSearchCluster({ pod: { ...noSettings, volumes } }));
    expect(template.spec.volumes).toContainEqual({ name: "words", configMap: { name: "words" } });
    expect(template.spec.containers[0]?.volumeMounts).toContainEqual({
      name: "words",
      mountPath: "/words",
      subPath: "de",
    });
  });

  test("a privileged container is there only where it was requested", () => {
    const { spec } = templateOf(aSearchCluster({ pod: { ...noSettings, setsMaxMapCount: true } }));
    expect(spec.initContainers?.map(({ name }) => name)).toEqual(["set-max-map-count", "prepare"]);
    expect(spec.initContainers?.[0]?.securityContext).toMatchObject({ privileged: true });
  });

  test("a command of the author's starts the engine", () => {
    expect(engineOf(aSearchCluster({ pod: { ...noSettings, command: "./run" } })).command).toEqual([
      "/bin/bash",
      "-c",
      "./run",
    ]);
    expect(engineOf(aSearchCluster()).command).toBeUndefined();
  });
});

describe("clusterServices", () => {
  test("clients meet ready nodes; nodes find managers that are not ready yet", () => {
    const services = clusterServices(aSearchCluster({ serviceName: "search" }));
    expect(services.map(({ metadata }) => metadata.name)).toEqual([
      "search",
      "logs-discovery",
      "search-nodes",
    ]);
    expect(services.map(({ spec }) => spec?.publishNotReadyAddresses)).toEqual([undefined, true, true]);
    expect(services[1]?.spec?.selector).toMatchObject({ "search.quartermaster.dev/manager": "true" });
  });
});

describe("poolInputsHash", () => {
  const nothing = { keystore: {}, volumes: {} };
  const before = poolInputsHash(aSearchCluster(), aPool(), nothing);

  test.for<{
    name: string;
    cluster?: Partial<SearchCluster>;
    pool?: Partial<NodePool>;
    followed?: typeof nothing;
  }>([
    { name: "a setting", cluster: { config: { a: "b" } } },
    { name: "a setting of the pool", pool: { config: { a: "b" } } },
    { name: "the image", cluster: { image: { name: "other", pullSecrets: [] } } },
    { name: "roles", pool: { roles: ["data"] } },
    { name: "JVM options", pool: { jvm: "-Xmx1g" } },
    { name: "resources", pool: { resources: { limits: { memory: "1Gi" } } } },
    { name: "a plugin", cluster: { plugins: ["a"] } },
    { name: "the content of a keystore", followed: { keystore: { s: "1" }, volumes: {} } },
    { name: "the annotation", cluster: { requests: { ...aSearchCluster().requests, restart: "1" } } },
  ])("$name needs a restart", ({ cluster, pool, followed = nothing }) => {
    expect(poolInputsHash(aSearchCluster(cluster), aPool(pool), followed)).not.toBe(before);
  });

  test.for<{ name: string; cluster?: Partial<SearchCluster>; pool?: Partial<NodePool> }>([
    { name: "more nodes", pool: { replicas: 9 } },
    {
      name: "a larger volume",
      pool: {
        storage: { kind: "volume", size: "9Gi", accessModes: ["ReadWriteOnce"], labels: {}, annotations: {} },
      },
    },
    { name: "another pool", cluster: { pools: [aPool(), aPool({ name: "more" })] } },
    {
      name: "a renewed certificate",
      cluster: { requests: { ...aSearchCluster().requests, renewCertificates: "1" } },
    },
    {
      name: "a longer life of certificates",
      cluster: {
        security: {
          ...aSearchCluster().security,
          http: { ...aSearchCluster().security.http, durationMs: 1 },
        },
      },
    },
  ])("$name needs none", ({ cluster, pool }) => {
    expect(poolInputsHash(aSearchCluster(cluster), aPool(pool), nothing)).toBe(before);
  });
});

describe("volumes of the author at paths of the operator", () => {
  const volumes = [
    { name: "rw-tmp", path: "/tmp", emptyDir: {} },
    { name: "rw-config", path: "/usr/share/opensearch/config", emptyDir: {} },
    { name: "rw-plugins", path: "/usr/share/opensearch/plugins", emptyDir: {} },
  ];
  const cluster = aSearchCluster({ pod: { ...noSettings, volumes } });

  test("an empty one is there for init containers, and the engine keeps the operator's", () => {
    const paths = engineOf(cluster).volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain("/usr/share/opensearch/plugins");
    expect(templateOf(cluster).spec.volumes?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["rw-tmp", "rw-config", "rw-plugins"]),
    );
    expect(workloadIssues(cluster, { pluginHosts: [] })).toEqual([]);
  });

  test("any other is refused with the path", () => {
    const other = [{ name: "own", path: "/usr/share/opensearch/config", configMap: { name: "own" } }];
    const issues = workloadIssues(aSearchCluster({ pod: { ...noSettings, volumes: other } }), {
      pluginHosts: [],
    });
    expect(issues.map(({ path }) => path)).toEqual(["spec.general.additionalVolumes[0].path"]);
  });
});
