import {
  balanced,
  client,
  config,
  exporter,
  grpcOn,
  line,
  named,
  operated,
  type Row,
  scaled,
  set,
  watched,
} from "./field-rows.ts";

const general: readonly Row[] = [
  ["general.additionalConfig", { "a.b": "c" }, config, line('a.b: "c"')],
  ["general.clusterSettings", { "a.b": "c" }, "cluster", { dynamicSettings: { "a.b": "c" } }],
  ["general.command", "run", set, { command: ["/bin/bash", "-c", "run"] }],
  ["general.defaultRepo", "r.example/x", set, { image: "r.example/x/opensearch:2.19.4" }],
  ["general.drainDataNodes", true, "cluster", { drainsBeforeRestart: true }],
  ["general.httpPort", 9201, client, { port: 9201 }],
  ["general.image", "r.example/own:2.19.4", set, { image: "r.example/own:2.19.4" }],
  ["general.imagePullPolicy", "Always", set, { imagePullPolicy: "Always" }],
  ["general.imagePullSecrets[].name", "pull", set, { imagePullSecrets: [named("pull")] }],
  [
    "general.keystore[].keyMappings",
    { a: "b" },
    set,
    ["one", "/keystore/0/a", "b"],
    { "general.keystore[].secret.name": "s" },
  ],
  ["general.keystore[].secret.name", "s", set, { secret: { secretName: "s" } }],
  ["general.opensearchHome", "/opt/os", config, line('path.data: "/opt/os/data"')],
  ["general.operatorClusterURL", "os.example", "target", { serverName: "os.example" }],
  ["general.pluginsList", ["analysis-icu"], set, "analysis-icu"],
  ["general.serviceName", "find", "Service find", { metadata: { name: "find" } }],
  ["general.setVMMaxMapCount", true, set, { name: "set-max-map-count" }],
  [
    "general.snapshotRepositories[].name",
    "r",
    "cluster",
    { repositories: [{ name: "r" }] },
    { "general.snapshotRepositories[].name": "old", "general.snapshotRepositories[].type": "s3" },
  ],
  [
    "general.snapshotRepositories[].type",
    "s3",
    "cluster",
    { repositories: [{ type: "s3" }] },
    { "general.snapshotRepositories[].name": "r", "general.snapshotRepositories[].type": "fs" },
  ],
  [
    "general.snapshotRepositories[].settings",
    { bucket: "b" },
    "cluster",
    { settings: { bucket: "b" } },
    { "general.snapshotRepositories[].name": "r", "general.snapshotRepositories[].type": "s3" },
  ],
  ["general.version", "2.19.3", set, { image: "docker.io/opensearchproject/opensearch:2.19.3" }],
  ["general.annotations", { a: "b" }, "Service logs-nodes", { annotations: { a: "b" } }],
  ["general.commonAnnotations", { a: "b" }, "PodDisruptionBudget logs-pdb", { annotations: { a: "b" } }],
  ["general.commonLabels", { a: "b" }, "NetworkPolicy logs-nodes", { labels: { a: "b" } }],
  ["general.podAnnotations", { a: "b" }, set, { template: { metadata: { annotations: { a: "b" } } } }],
  ["general.podLabels", { a: "b" }, set, { template: { metadata: { labels: { a: "b" } } } }],
  ["general.hostAliases", [{ ip: "10.0.0.9" }], set, { hostAliases: [{ ip: "10.0.0.9" }] }],
  ["general.hostNetwork", true, set, { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" }],
  ["general.podSecurityContext", { fsGroup: 7 }, set, { securityContext: { fsGroup: 7 } }],
  ["general.securityContext", { runAsUser: 7 }, set, { securityContext: { runAsUser: 7 } }],
  ["general.serviceAccount", "sa", set, { serviceAccountName: "sa" }],
  [
    "general.persistentVolumeClaimRetentionPolicy.whenDeleted",
    "Delete",
    "cluster",
    { whenDeleted: "Delete" },
  ],
  [
    "general.persistentVolumeClaimRetentionPolicy.whenScaled",
    "Delete",
    "cluster",
    { whenScaled: "Delete", name: "nodes" },
  ],
  ["general.networkPolicy.enable", false, "absent", "NetworkPolicy logs-nodes"],
  [
    "general.networkPolicy.from",
    [{ ipBlock: { cidr: "10.0.0.0/8" } }],
    "NetworkPolicy logs-nodes",
    { ipBlock: { cidr: "10.0.0.0/8" } },
  ],
  ["general.service.type", "NodePort", client, { type: "NodePort" }],
  ["general.service.annotations", { a: "b" }, client, { annotations: { a: "b" } }],
  ["general.service.labels", { a: "b" }, client, { labels: { a: "b" } }],
  [
    "general.service.loadBalancerClass",
    "x.example/lb",
    client,
    { loadBalancerClass: "x.example/lb" },
    balanced,
  ],
  [
    "general.service.loadBalancerSourceRanges",
    ["10.0.0.0/8"],
    client,
    { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    balanced,
  ],
  ["general.service.externalTrafficPolicy", "Local", client, { externalTrafficPolicy: "Local" }, balanced],
];

const attribute = {
  "general.nodeAttributes[].name": "zone",
  "general.nodeAttributes[].nodeLabel": "topology.kubernetes.io/zone",
};

const attributes: readonly Row[] = [
  ["general.nodeAttributes[].name", "rack", set, "rack", attribute],
  [
    "general.nodeAttributes[].nodeLabel",
    "topology.kubernetes.io/region",
    "cluster",
    { nodeAttributes: [{ nodeLabel: "topology.kubernetes.io/region" }] },
    attribute,
  ],
];

const grpc: readonly Row[] = [
  [
    "general.grpc.enable",
    true,
    config,
    line('aux.transport.types: ["transport-grpc"]'),
    { "general.version": "3.2.0" },
  ],
  ["general.grpc.port", "9500", client, { name: "grpc", port: 9500 }, grpcOn],
  ["general.grpc.host", ["_site_"], config, line('grpc.host: ["_site_"]'), grpcOn],
  ["general.grpc.bindHost", ["0.0.0.0"], config, line('grpc.bind_host: ["0.0.0.0"]'), grpcOn],
  ["general.grpc.publishHost", ["_site_"], config, line('grpc.publish_host: ["_site_"]'), grpcOn],
  ["general.grpc.publishPort", 9500, config, line("grpc.publish_port: 9500"), grpcOn],
  ["general.grpc.keepaliveTimeout", "20s", config, line('grpc.netty.keepalive_timeout: "20s"'), grpcOn],
  ["general.grpc.maxConnectionAge", "1h", config, line('grpc.netty.max_connection_age: "1h"'), grpcOn],
  ["general.grpc.maxConnectionIdle", "1m", config, line('grpc.netty.max_connection_idle: "1m"'), grpcOn],
  ["general.grpc.maxMsgSize", "1mb", config, line('grpc.netty.max_msg_size: "1mb"'), grpcOn],
  [
    "general.grpc.maxConcurrentConnectionCalls",
    7,
    config,
    line("grpc.netty.max_concurrent_connection_calls: 7"),
    grpcOn,
  ],
  ["general.grpc.nettyExecutorCount", 7, config, line("grpc.netty.executor_count: 7"), grpcOn],
  ["general.grpc.nettyWorkerCount", 7, config, line("grpc.netty.worker_count: 7"), grpcOn],
];

const stack = (part: "prometheus" | "alertmanager" | "grafana"): readonly Row[] => {
  const of = `Deployment logs-${part}`;
  const at = `general.monitoring.stack.${part}`;
  return [
    [`${at}.image`, "r.example/x:1", of, { image: "r.example/x:1" }, watched],
    [`${at}.imagePullPolicy`, "Always", of, { imagePullPolicy: "Always" }, watched],
    [`${at}.imagePullSecrets[].name`, "pull", of, { imagePullSecrets: [named("pull")] }, watched],
    [`${at}.resources`, { limits: { cpu: "7" } }, of, { resources: { limits: { cpu: "7" } } }, watched],
  ];
};

const monitor = "ServiceMonitor logs-monitor";
const figures: readonly Row[] = [
  ["general.monitoring.enable", true, exporter, { metadata: { name: "logs-exporter" } }],
  ["general.monitoring.image", "r.example/x:1", exporter, { image: "r.example/x:1" }, watched],
  ["general.monitoring.imagePullPolicy", "Always", exporter, { imagePullPolicy: "Always" }, watched],
  [
    "general.monitoring.imagePullSecrets[].name",
    "pull",
    exporter,
    { imagePullSecrets: [named("pull")] },
    watched,
  ],
  [
    "general.monitoring.resources",
    { limits: { cpu: "7" } },
    exporter,
    { resources: { limits: { cpu: "7" } } },
    watched,
  ],
  ["general.monitoring.labels", { a: "b" }, monitor, { labels: { a: "b" } }, watched],
  [
    "general.monitoring.relabelings",
    [{ action: "drop", regex: "x" }],
    monitor,
    { action: "drop", regex: "x" },
    watched,
  ],
  [
    "general.monitoring.metricRelabelings",
    [{ action: "drop", regex: "x" }],
    monitor,
    { action: "drop", regex: "x" },
    watched,
  ],
  ["general.monitoring.scrapeInterval", "7s", monitor, { interval: "7s" }, watched],
  ["general.monitoring.monitoringUserSecret", "login", exporter, { secretName: "login" }, watched],
  [
    "general.monitoring.stack.mode",
    "Operator",
    "Prometheus logs-prometheus",
    { metadata: { name: "logs-prometheus" } },
    watched,
  ],
  [
    "general.monitoring.stack.claimName",
    "data",
    "Deployment logs-prometheus",
    { claimName: "data" },
    watched,
  ],
  ["general.monitoring.stack.retention", "7d", "Prometheus logs-prometheus", { retention: "7d" }, operated],
  [
    "general.monitoring.stack.receivers.name",
    "who",
    "Deployment logs-alertmanager",
    { secretName: "who" },
    watched,
  ],
  ["general.monitoring.stack.grafana.enable", false, "absent", "Deployment logs-grafana", watched],
  ...stack("prometheus"),
  ...stack("alertmanager"),
  ...stack("grafana"),
];

const pools: readonly Row[] = [
  ["nodePools[].additionalConfig", { "a.b": "c" }, config, line('a.b: "c"')],
  ["nodePools[].affinity", { nodeAffinity: { a: 1 } }, set, { affinity: { nodeAffinity: { a: 1 } } }],
  ["nodePools[].annotations", { a: "b" }, set, { template: { metadata: { annotations: { a: "b" } } } }],
  ["nodePools[].labels", { a: "b" }, set, { template: { metadata: { labels: { a: "b" } } } }],
  ["nodePools[].component", "other", "StatefulSet logs-other", { metadata: { name: "logs-other" } }],
  ["nodePools[].diskSize", "7Gi", set, { storage: "7Gi" }],
  ["nodePools[].env", [{ name: "A", value: "b" }], set, { name: "A", value: "b" }],
  ["nodePools[].hostAliases", [{ ip: "10.0.0.9" }], set, { hostAliases: [{ ip: "10.0.0.9" }] }],
  ["nodePools[].image", "r.example/gpu:2.19.4", set, { image: "r.example/gpu:2.19.4" }],
  ["nodePools[].imagePullPolicy", "Always", set, { imagePullPolicy: "Always" }],
  ["nodePools[].imagePullSecrets[].name", "pull", set, { imagePullSecrets: [named("pull")] }],
  ["nodePools[].initContainers", [{ name: "first" }], set, { initContainers: [{ name: "first" }] }],
  ["nodePools[].sidecarContainers", [{ name: "beside" }], set, { containers: [{ name: "beside" }] }],
  ["nodePools[].jvm", "-Xmx7g", set, { name: "OPENSEARCH_JAVA_OPTS", value: "-Xmx7g" }],
  ["nodePools[].nodeSelector", { a: "b" }, set, { nodeSelector: { a: "b" } }],
  [
    "nodePools[].pdb.enable",
    true,
    "PodDisruptionBudget logs-nodes-pdb",
    { metadata: { name: "logs-nodes-pdb" } },
  ],
  [
    "nodePools[].pdb.maxUnavailable",
    7,
    "PodDisruptionBudget logs-nodes-pdb",
    { maxUnavailable: 7 },
    { "nodePools[].pdb.enable": true },
  ],
  [
    "nodePools[].pdb.minAvailable",
    7,
    "PodDisruptionBudget logs-nodes-pdb",
    { minAvailable: 7 },
    { "nodePools[].pdb.enable": true },
  ],
  [
    "nodePools[].persistence.emptyDir",
    { sizeLimit: "7Gi" },
    set,
    { name: "data", emptyDir: { sizeLimit: "7Gi" } },
  ],
  ["nodePools[].persistence.hostPath", { path: "/d" }, set, { name: "data", hostPath: { path: "/d" } }],
  ["nodePools[].persistence.pvc.accessModes", ["ReadWriteMany"], set, { accessModes: ["ReadWriteMany"] }],
  [
    "nodePools[].persistence.pvc.annotations",
    { a: "b" },
    set,
    { volumeClaimTemplates: [{ metadata: { annotations: { a: "b" } } }] },
  ],
  [
    "nodePools[].persistence.pvc.labels",
    { a: "b" },
    set,
    { volumeClaimTemplates: [{ metadata: { labels: { a: "b" } } }] },
  ],
  ["nodePools[].persistence.pvc.storageClass", "fast", set, { storageClassName: "fast" }],
  [
    "nodePools[].persistentVolumeClaimRetentionPolicy.whenScaled",
    "Delete",
    "cluster",
    { whenScaled: "Delete" },
  ],
  ["nodePools[].priorityClassName", "high", set, { priorityClassName: "high" }],
  ["nodePools[].replicas", 7, set, { replicas: 7 }],
  ["nodePools[].resources", { limits: { cpu: "7" } }, set, { resources: { limits: { cpu: "7" } } }],
  [
    "nodePools[].roles",
    ["cluster_manager", "ingest"],
    config,
    line('node.roles: ["cluster_manager","ingest"]'),
  ],
  ["nodePools[].tolerations", [{ key: "a" }], set, { tolerations: [{ key: "a" }] }],
  [
    "nodePools[].topologySpreadConstraints",
    [{ maxSkew: 7 }],
    set,
    { topologySpreadConstraints: [{ maxSkew: 7 }] },
  ],
];

const probeNames = ["liveness", "readiness", "startup"] as const;
const probes: readonly Row[] = probeNames.flatMap((probe): readonly Row[] => [
  ...["failureThreshold", "initialDelaySeconds", "periodSeconds", "timeoutSeconds"].map((field): Row => [
    `nodePools[].probes.${probe}.${field}`,
    77,
    set,
    { [`${probe}Probe`]: { [field]: 77 } },
  ]),
  [`nodePools[].probes.${probe}.successThreshold`, 1, set, { [`${probe}Probe`]: { successThreshold: 1 } }],
  ...(probe === "liveness"
    ? []
    : [
        [
          `nodePools[].probes.${probe}.command`,
          ["true"],
          set,
          { [`${probe}Probe`]: { exec: { command: ["true"] } } },
        ] as const,
      ]),
]);

const scaling = (path: string, to: unknown, has: unknown): Row => [
  `nodePools[].autoscaling.${path}`,
  to,
  "cluster",
  { autoscaling: has },
  scaled,
];

const autoscaling: readonly Row[] = [
  scaling("mode", "Recommend", { mode: "Recommend" }),
  ["nodePools[].autoscaling.minReplicas", 2, set, { replicas: 2 }, scaled],
  scaling("maxReplicas", 7, { maxReplicas: 7 }),
  scaling("metrics[].type", "Heap", { metrics: [{ type: "Heap" }] }),
  scaling("metrics[].target", 77, { metrics: [{ target: 77 }] }),
  scaling("metrics[].query", "up", { metrics: [{ query: "up" }] }),
  scaling("scaleUp.stabilizationSeconds", 7, { scaleUp: { stabilizationMs: 7000 } }),
  scaling("scaleUp.maxStep", 7, { scaleUp: { maxStep: 7 } }),
  scaling("scaleUp.cooldownSeconds", 7, { scaleUp: { cooldownMs: 7000 } }),
  scaling("scaleDown.stabilizationSeconds", 7, { scaleDown: { stabilizationMs: 7000 } }),
  scaling("scaleDown.maxStep", 7, { scaleDown: { maxStep: 7 } }),
  scaling("scaleDown.cooldownSeconds", 7, { scaleDown: { cooldownMs: 7000 } }),
  [
    "nodePools[].autoscaling.storage.maxSize",
    "7Gi",
    "cluster",
    { storage: { maxBytes: 7 * 1024 ** 3 } },
    scaled,
  ],
  ...(["growAtPercent", "stepPercent"] as const).map((field): Row => [
    `nodePools[].autoscaling.storage.${field}`,
    77,
    "cluster",
    { storage: { [field]: 77 } },
    { ...scaled, "nodePools[].autoscaling.storage.maxSize": "7Gi" },
  ]),
];

/** Fields of nodes and of what monitors them. */
export const nodeFieldRows: readonly Row[] = [
  ...general,
  ...attributes,
  ...grpc,
  ...figures,
  ...pools,
  ...probes,
  ...autoscaling,
];
