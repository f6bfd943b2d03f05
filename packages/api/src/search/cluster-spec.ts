import { duration, int32, listMap, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { monitoring } from "./monitoring.ts";
import { claimRetention, nodePool } from "./node-pool.ts";
import { additionalVolumes, keystore, podFields, secretReference, settings, size } from "./pod-fields.ts";
import { security } from "./security.ts";

const plugins = z.array(z.string().max(2048)).max(64).optional();
const grpcText = z.string().max(256).optional();
const grpc = z
  .strictObject({
    enable: z.boolean().optional().describe("Whether gRPC is served."),
    port: grpcText.describe("Port or range of ports."),
    publishPort: int32().optional().describe("Published port."),
    host: z.array(z.string()).optional().describe("Addresses."),
    bindHost: z.array(z.string()).optional().describe("Addresses that are listened on."),
    publishHost: z.array(z.string()).optional().describe("Published addresses."),
    keepaliveTimeout: grpcText.describe("Timeout of keepalive."),
    maxConnectionAge: grpcText.describe("Age of a connection."),
    maxConnectionIdle: grpcText.describe("Idle time of a connection."),
    maxMsgSize: grpcText.describe("Size of a message."),
    maxConcurrentConnectionCalls: int32().optional().describe("Calls on a connection at a time."),
    nettyExecutorCount: int32().optional().describe("Threads that execute."),
    nettyWorkerCount: int32().optional().describe("Threads that read and write."),
  })
  .optional()
  .describe("gRPC transport of OpenSearch 3.");

const snapshotRepositories = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(253).describe("Name of the repository."),
      type: z.string().min(1).max(64).describe("Type of the repository, e.g. s3 or fs."),
      settings: settings().describe("Settings of the repository."),
    }),
  )
  .max(64)
  .optional()
  .describe(
    "Snapshot repositories: registered and tried out; deregistered when they are no longer listed, with their data left as it is. Those that others registered are never touched. Addresses must be allowed by the operator's --snapshot-hosts, folders of type fs must be below path.repo, and credentials belong into keystore.",
  );

const networkPolicy = z
  .strictObject({
    enable: z.boolean().optional().describe("Whether NetworkPolicies are made. Defaults to true."),
    from: z
      .array(raw())
      .max(64)
      .optional()
      .describe(
        "Who may reach the HTTP port, as in a NetworkPolicy. Defaults to everybody: TLS and login guard it.",
      ),
  })
  .optional()
  .describe("Who may connect. The transport port is open to nodes of the cluster only.");

const general = z
  .strictObject({
    additionalConfig: settings().describe("Settings of the engine for all pools."),
    additionalVolumes,
    annotations: podFields.podLevel.annotations,
    clusterSettings: settings().describe(
      "Dynamic settings: set by the engine's API, without a restart, and reset when they are no longer listed. Others stay.",
    ),
    command: z
      .string()
      .max(8192)
      .optional()
      .describe("Shell command that starts the engine instead of the image's own."),
    defaultRepo: z.string().max(1024).optional().describe("Registry and path before the image's name."),
    drainDataNodes: z.boolean().optional().describe("Whether shards are moved away before a node restarts."),
    grpc,
    hostAliases: podFields.podLevel.hostAliases,
    hostNetwork: z.boolean().optional().describe("Whether pods use the machine's network."),
    httpPort: int32().min(1).max(65_535).default(9200).describe("Port for clients."),
    ...podFields.images,
    keystore,
    monitoring,
    networkPolicy,
    nodeAttributes: z.array(raw()).optional().describe("Attributes of nodes."),
    opensearchHome: z.string().max(1024).optional().describe("Where the engine is in its image."),
    operatorClusterURL: z
      .string()
      .max(253)
      .optional()
      .describe("Name that the operator verifies in the nodes' certificates. It connects to pods only."),
    persistentVolumeClaimRetentionPolicy: claimRetention,
    pluginsList: plugins.describe("Plugins that are installed at start."),
    ...podFields.contexts,
    serviceAccount: objectNameOrEmpty().optional().describe("ServiceAccount of the pods."),
    serviceName: z.string().min(1).max(63).describe("Name of the Service for clients."),
    setVMMaxMapCount: z
      .boolean()
      .optional()
      .describe(
        "Whether a privileged container raises vm.max_map_count. Defaults to false: memory maps are switched off where the machine allows too few.",
      ),
    snapshotRepositories,
    vendor: z
      .enum(["Opensearch", "Op", "OP", "os", "opensearch"])
      .optional()
      .describe("Only OpenSearch, in any of these spellings."),
    version: z.string().max(64).optional().describe("Version of the engine, e.g. 2.19.4."),
  })
  .describe("What all nodes have in common.");

/** OpenSearch Dashboards or Kibana. */
const dashboards = z
  .strictObject({
    enable: z.boolean().optional().describe("Whether it runs. Defaults to false."),
    version: z.string().max(64).optional().describe("Version. Defaults to that of the cluster."),
    replicas: int32().min(0).max(100).default(1).describe("How many pods."),
    additionalConfig: settings().describe("Settings."),
    additionalVolumes,
    basePath: z.string().max(1024).optional().describe("Path under which it is served."),
    ...podFields.images,
    opensearchCredentialsSecret: secretReference("Secret with username and password that it logs in with."),
    opensearchDashboardsHome: z.string().max(1024).optional().describe("Where it is in its image."),
    pluginsList: plugins.describe("Plugins that are installed at start."),
    service: z
      .strictObject({
        type: z
          .enum(["ClusterIP", "NodePort", "LoadBalancer"])
          .default("ClusterIP")
          .describe("Type of the Service."),
        labels: map(z.string()).optional().describe("Labels of the Service."),
        loadBalancerSourceRanges: z.array(z.string()).optional().describe("Addresses that may connect."),
      })
      .optional()
      .describe("Service."),
    tls: z
      .strictObject({
        enable: z.boolean().optional().describe("Whether it serves TLS."),
        generate: z.boolean().optional().describe("Whether the operator issues the certificate."),
        secret: secretReference("Secret with tls.crt and tls.key."),
        caSecret: secretReference("Secret with the authority."),
        duration: duration().default("8760h").describe("How long certificates hold."),
        enableHotReload: z.boolean().optional().describe("Accepted."),
      })
      .optional()
      .describe("TLS of its own port."),
    ...podFields.podLevel,
    ...podFields.spread,
    ...podFields.contexts,
  })
  .optional();

const bootstrap = z
  .strictObject({
    ...podFields.podLevel,
    diskSize: size("Without effect."),
    initContainers: z.array(raw()).optional().describe("Without effect."),
    jvm: z.string().max(4096).optional().describe("Without effect."),
    keystore,
    pluginsList: plugins.describe("Without effect."),
    storageClass: z.string().max(253).optional().describe("Without effect."),
  })
  .optional()
  .describe("Accepted without effect: a cluster forms without a helper pod.");

const initHelper = z
  .strictObject({
    ...podFields.images,
    resources: podFields.podLevel.resources,
    version: z.string().max(64).optional().describe("Tag of the image."),
  })
  .optional()
  .describe("Image of the init containers. Defaults to the engine's own.");

const confMgmt = z
  .strictObject({
    VerUpdate: z.boolean().optional().describe("Without effect."),
    autoScaler: z.boolean().optional().describe("Without effect."),
    smartScaler: z.boolean().default(true).describe("Whether nodes are drained before they are removed."),
  })
  .optional()
  .describe("How changes are carried out.");

const operations = z
  .strictObject({
    paused: z
      .boolean()
      .optional()
      .describe("Nothing is written but status, disruption budget and renewed certificates."),
    deletionProtection: z
      .boolean()
      .optional()
      .describe("The cluster, its claims, its CA and its passwords cannot be deleted while this is true."),
    windows: z
      .array(
        z.strictObject({
          cron: z
            .string()
            .min(9)
            .max(256)
            .describe(
              "When it opens: minute, hour, day of the month, month, day of the week. E.g. 0 2 * * sat.",
            ),
          duration: duration().describe("How long it stays open: 1m to 168h."),
          timeZone: z
            .string()
            .min(1)
            .max(64)
            .default("UTC")
            .describe("Time zone of cron, e.g. Europe/Berlin."),
        }),
      )
      .max(16)
      .optional()
      .describe(
        "Only while one of them is open, nodes restart for a new configuration or are removed. Broken pods are repaired, nodes added and certificates renewed at any time. Defaults to always.",
      ),
  })
  .optional()
  .describe("When and how the operator acts.");

const nodePools = listMap(nodePool, ["component"]).max(64).describe("Pools of nodes that are alike.");

const shared = { bootstrap, confMgmt, general, initHelper, nodePools, operations, security };

/** Spec of an OpenSearchCluster. */
export const openSearchClusterSpec = z.strictObject({
  ...shared,
  dashboards: dashboards.describe("OpenSearch Dashboards."),
});

/** Spec of an ElasticsearchCluster: the same shape. */
export const elasticsearchClusterSpec = z.strictObject({
  general,
  nodePools,
  operations,
  security,
  kibana: dashboards.describe("Kibana."),
});
