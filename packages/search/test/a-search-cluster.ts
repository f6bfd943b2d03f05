import type { MonitoringSettings } from "../src/model/read-monitoring.ts";
import type {
  DashboardsSettings,
  NodePool,
  PodSettings,
  SearchCluster,
  TlsSettings,
} from "../src/model/search-cluster.ts";

const generated: TlsSettings = {
  isEnabled: true,
  isGenerated: true,
  secret: undefined,
  caSecret: undefined,
  extraNames: [],
  durationMs: 365 * 86_400_000,
  renewBeforeMs: undefined,
};

/** No settings at all. */
export const noSettings: PodSettings = {
  labels: {},
  annotations: {},
  spec: {},
  container: {},
  sidecars: [],
  initContainers: [],
  volumes: [],
  setsMaxMapCount: false,
};

/** A pool of one node that may do everything. */
export function aPool(changes: Partial<NodePool> = {}): NodePool {
  return {
    name: "nodes",
    replicas: 1,
    roles: ["cluster_manager", "data", "ingest"],
    storage: { kind: "volume", size: "1Gi", accessModes: ["ReadWriteOnce"], labels: {}, annotations: {} },
    whenScaled: "Retain",
    image: undefined,
    jvm: undefined,
    config: {},
    resources: undefined,
    pdb: undefined,
    autoscaling: undefined,
    pod: noSettings,
    ...changes,
  };
}

/** A secured OpenSearch of one pool. */
export function aSearchCluster(changes: Partial<SearchCluster> = {}): SearchCluster {
  return {
    distribution: "opensearch",
    name: "logs",
    namespace: "team",
    uid: "1f2e",
    version: "2.19.4",
    image: { name: "docker.io/opensearchproject/opensearch:2.19.4", pullSecrets: [] },
    serviceName: "logs",
    httpPort: 9200,
    serverName: undefined,
    home: "/usr/share/opensearch",
    pools: [aPool()],
    config: {},
    plugins: [],
    keystore: [],
    dynamicSettings: {},
    repositories: [],
    repositoryUrls: [],
    security: {
      isEnabled: true,
      transport: generated,
      http: generated,
      adminCredentialsSecret: undefined,
      securityConfigSecret: undefined,
      adminSecret: undefined,
      adminDns: [],
      nodeDns: [],
    },
    pod: noSettings,
    dashboards: undefined,
    monitoring: undefined,
    networkPolicy: { isEnabled: true, from: [] },
    whenDeleted: "Retain",
    whenPoolRemoved: "Retain",
    drainsBeforeRestart: false,
    drainsBeforeRemoval: true,
    windows: [],
    isPaused: false,
    isDeletionProtected: false,
    requests: {
      acceptNewCluster: undefined,
      renewCertificates: undefined,
      restart: undefined,
      restartPools: {},
      skipChecks: [],
    },
    ...changes,
  };
}

/** Dashboards as a spec that says nothing else requests it. */
export function aDashboards(changes: Partial<DashboardsSettings> = {}): DashboardsSettings {
  return {
    version: "2.19.4",
    home: "/usr/share/opensearch-dashboards",
    image: { name: "docker.io/opensearchproject/opensearch-dashboards:2.19.4", pullSecrets: [] },
    replicas: 1,
    isTlsEnabled: false,
    tlsSecret: undefined,
    basePath: undefined,
    config: {},
    credentialsSecret: undefined,
    resources: undefined,
    service: { type: "ClusterIP", labels: {}, sourceRanges: [] },
    pod: noSettings,
    ...changes,
  };
}

/** Monitoring as a spec that says nothing else requests it. */
export function aMonitoring(changes: Partial<MonitoringSettings> = {}): MonitoringSettings {
  const part = (image: string): MonitoringSettings["stack"]["parts"]["grafana"] => ({
    image: { name: image, pullSecrets: [] },
    resources: undefined,
  });
  return {
    image: { name: "quartermaster.local/search-exporter:0.0.0", pullSecrets: [] },
    resources: undefined,
    userSecret: undefined,
    scrapeInterval: "30s",
    labels: {},
    relabelings: [],
    metricRelabelings: [],
    stack: {
      mode: "None",
      receiversSecret: undefined,
      retention: "15d",
      claimName: undefined,
      isGrafanaEnabled: true,
      parts: { prometheus: part("prometheus"), alertmanager: part("alertmanager"), grafana: part("grafana") },
    },
    ...changes,
  };
}

/** The same with Elasticsearch. */
export function anElasticsearch(version: string, changes: Partial<SearchCluster> = {}): SearchCluster {
  return aSearchCluster({
    distribution: "elasticsearch",
    version,
    image: { name: `docker.elastic.co/elasticsearch/elasticsearch:${version}`, pullSecrets: [] },
    home: "/usr/share/elasticsearch",
    ...changes,
  });
}
