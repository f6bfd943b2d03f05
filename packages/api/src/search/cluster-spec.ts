import { duration, int32, listMap, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { clientService } from "./client-service.ts";
import { dashboards } from "./dashboards.ts";
import { grpc } from "./grpc.ts";
import { monitoring } from "./monitoring.ts";
import { claimRetention, nodePool } from "./node-pool.ts";
import { additionalVolumes, keystore, plugins, podFields, settings, size } from "./pod-fields.ts";
import { security } from "./security.ts";

const snapshotRepositories = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(253).describe("Name of the repository."),
      type: z.string().min(1).max(64).describe("Type of the repository, e.g. s3 or fs."),
      settings: settings().describe(
        "Settings of the repository, e.g. bucket and region. Credentials are refused: put them in keystore.",
      ),
    }),
  )
  .max(64)
  .optional()
  .describe(
    "Snapshot repositories. The operator registers each one without a restart, and every node verifies it. A repository that is no longer listed is deregistered; its data stays. Repositories that other clients registered are never changed. Addresses must be allowed by the operator's --snapshot-hosts, directories of type fs must be below path.repo, and credentials must be in keystore. At most 64.",
  );

const networkPolicy = z
  .strictObject({
    enable: z
      .boolean()
      .optional()
      .describe("Whether the operator creates NetworkPolicies. Defaults to true."),
    from: z
      .array(raw())
      .max(64)
      .optional()
      .describe(
        "Peers that may connect to the HTTP port, as in a NetworkPolicy. Defaults to all: TLS and login protect the port. At most 64.",
      ),
  })
  .optional()
  .describe("Network access to the nodes. Only nodes of the cluster can connect to the transport port.");

const nodeAttributes = z
  .array(
    z.strictObject({
      name: z
        .string()
        .max(63)
        .regex(/^[a-zA-Z][a-zA-Z0-9_-]*$/)
        .describe("Name of the attribute: the engine gets node.attr.<name>."),
      nodeLabel: z
        .string()
        .min(1)
        .max(317)
        .describe("Label of the machine, e.g. topology.kubernetes.io/zone."),
    }),
  )
  .max(8)
  .optional()
  .describe(
    "Attributes that each node takes from the machine that it runs on. The operator copies the labels, pods need no permissions. Labels below topology.kubernetes.io, node.kubernetes.io and kubernetes.io are read. A change restarts the nodes one at a time. At most 8.",
  );

const general = z
  .strictObject({
    additionalConfig: settings().describe(
      "Settings of the engine (opensearch.yml or elasticsearch.yml) for all pools. A change restarts the nodes one at a time. At most 500 settings, and 64 KiB in the whole cluster.",
    ),
    additionalVolumes,
    annotations: map(z.string())
      .optional()
      .describe("Annotations of the Services of the nodes. For annotations of pods see podAnnotations."),
    clusterSettings: settings().describe(
      "Dynamic settings of the engine. The operator sets them through the engine's API, without a restart, and resets a setting that is no longer listed. Settings that other clients set stay. At most 500.",
    ),
    command: z
      .string()
      .max(8192)
      .optional()
      .describe("Shell command that starts the engine. Defaults to the command of the image."),
    defaultRepo: z
      .string()
      .max(1024)
      .optional()
      .describe(
        "Registry and path that replace the default ones of the image, e.g. registry.example.com/opensearch.",
      ),
    drainDataNodes: z
      .boolean()
      .optional()
      .describe("Whether the shards of a data node are moved away before it restarts. Defaults to false."),
    grpc,
    hostAliases: podFields.podLevel.hostAliases,
    hostNetwork: z
      .boolean()
      .optional()
      .describe("Whether pods use the network of their machine. Defaults to false."),
    httpPort: int32()
      .min(1)
      .max(65_535)
      .default(9200)
      .describe("Port for clients. Defaults to 9200. A change restarts the nodes one at a time."),
    ...podFields.images,
    keystore,
    monitoring,
    networkPolicy,
    commonAnnotations: map(z.string())
      .optional()
      .describe(
        "Annotations of all objects that the operator creates for the cluster, except pods and claims.",
      ),
    commonLabels: map(z.string())
      .optional()
      .describe(
        "Labels of all objects that the operator creates for the cluster, except pods and claims. Labels of the operator win.",
      ),
    nodeAttributes,
    opensearchHome: z
      .string()
      .max(1024)
      .optional()
      .describe(
        "Directory of the engine in its image. Defaults to /usr/share/opensearch or /usr/share/elasticsearch.",
      ),
    operatorClusterURL: z
      .string()
      .max(253)
      .optional()
      .describe(
        "Name that the operator verifies in the certificates of the nodes. Defaults to the name of the Service. The operator always connects to pods directly.",
      ),
    persistentVolumeClaimRetentionPolicy: claimRetention,
    pluginsList: plugins.describe(
      "Plugins to install when a pod starts, by name or URL. A change restarts the pods. At most 64.",
    ),
    podAnnotations: map(z.string())
      .optional()
      .describe("Annotations of the pods of all pools. A change restarts the nodes one at a time."),
    podLabels: map(z.string())
      .optional()
      .describe(
        "Labels of the pods of all pools, in addition to those of the operator. A change restarts the nodes one at a time.",
      ),
    ...podFields.contexts,
    service: clientService,
    serviceAccount: objectNameOrEmpty()
      .optional()
      .describe(
        "Name of the ServiceAccount of the pods. Defaults to the default ServiceAccount of the namespace.",
      ),
    serviceName: z
      .string()
      .min(1)
      .max(63)
      .describe("Name of the Service for clients. At most 63 characters."),
    setVMMaxMapCount: z
      .boolean()
      .optional()
      .describe(
        "Whether a privileged init container raises vm.max_map_count. Defaults to false; memory maps are then disabled where the machine allows too few.",
      ),
    snapshotRepositories,
    vendor: z
      .enum(["Opensearch", "Op", "OP", "os", "opensearch"])
      .optional()
      .describe("Any of these spellings. The kind decides what runs."),
    version: z
      .string()
      .max(64)
      .optional()
      .describe(
        "Version of the engine, e.g. 2.19.4. Defaults to the tag of image. A change of a running cluster is held until upgrades are supported.",
      ),
  })
  .describe(
    "Settings of all nodes. A change of image, port, plugins, keystore, engine settings or pod fields restarts the nodes one at a time.",
  );

const bootstrap = z
  .strictObject({
    ...podFields.podLevel,
    diskSize: size("No effect."),
    initContainers: z.array(raw()).optional().describe("No effect."),
    jvm: z.string().max(4096).optional().describe("No effect."),
    keystore,
    pluginsList: plugins.describe("No effect."),
    storageClass: z.string().max(253).optional().describe("No effect."),
  })
  .optional()
  .describe("No effect: a cluster forms without a bootstrap pod.");

const initHelper = z
  .strictObject({
    ...podFields.images,
    resources: podFields.podLevel.resources,
    version: z.string().max(64).optional().describe("Tag of the image busybox, unless image is set."),
  })
  .optional()
  .describe(
    "Init containers of the pods. The image is that of the container that raises vm.max_map_count; container prepare needs the engine's own. Resources are those of both. A change restarts the nodes one at a time.",
  );

const confMgmt = z
  .strictObject({
    VerUpdate: z.boolean().optional().describe("No effect."),
    autoScaler: z.boolean().optional().describe("No effect."),
    smartScaler: z
      .boolean()
      .default(true)
      .describe("Whether nodes are drained before they are removed. Defaults to true."),
  })
  .optional()
  .describe("How the operator carries out changes.");

const operations = z
  .strictObject({
    paused: z
      .boolean()
      .optional()
      .describe(
        "Whether the operator stops changing the cluster. It then writes only status, disruption budgets and renewed certificates, and ends an open operation without taking a node away. Defaults to false.",
      ),
    deletionProtection: z
      .boolean()
      .optional()
      .describe(
        "Whether deletion of the cluster, its claims, its CA and its passwords is refused. Requires the policies in config/policy. Defaults to false.",
      ),
    windows: z
      .array(
        z.strictObject({
          cron: z
            .string()
            .min(9)
            .max(256)
            .describe(
              "When the window opens, in cron format: minute, hour, day of the month, month, day of the week. E.g. 0 2 * * sat.",
            ),
          duration: duration().describe("How long the window stays open, from 1m to 168h."),
          timeZone: z
            .string()
            .min(1)
            .max(64)
            .default("UTC")
            .describe("Time zone of cron, e.g. Europe/Berlin. Defaults to UTC."),
        }),
      )
      .max(16)
      .optional()
      .describe(
        "Maintenance windows. Nodes restart for a new configuration or are removed only while a window is open. Broken pods are repaired, nodes added and certificates renewed at any time. Defaults to always open. At most 16.",
      ),
  })
  .optional()
  .describe("When the operator may act, and what it protects.");

const nodePools = listMap(nodePool, ["component"])
  .max(64)
  .describe("Pools of nodes. All nodes of a pool are alike. At most 64.");

const shared = { bootstrap, confMgmt, general, initHelper, nodePools, operations, security };

/** Spec of an OpenSearchCluster. */
export const openSearchClusterSpec = z.strictObject({
  ...shared,
  dashboards: dashboards.describe("OpenSearch Dashboards of the cluster. Defaults to none."),
});

/** Spec of an ElasticsearchCluster: the same shape. */
export const elasticsearchClusterSpec = z.strictObject({
  general,
  nodePools,
  operations,
  security,
  kibana: dashboards.describe("Kibana of the cluster. Defaults to none."),
});
