import { isJsonObject, type JsonObject, textOf, withoutFields } from "@quartermaster/runtime";
import type { EnvVar, PodTemplate } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import type { NodePool, PodSettings, SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations } from "../owner-labels.ts";
import { podLabels, poolLabels } from "./cluster-labels.ts";
import { jvmOptions } from "./jvm-options.ts";
import { mergeFields, mergeSettings } from "./merge-settings.ts";
import { nodeSettings, transportPort } from "./node-settings.ts";
import { poolProbes } from "./pool-probes.ts";
import { poolVolumes, type PoolVolumes } from "./pool-volumes.ts";
import { prepareCommand, prepareContainer } from "./prepare.ts";

/**
 * The pods of a pool. They meet the restricted profile with a read-only root, unless the author requests more; what the author says of
 * pods is laid over ours, except for volumes and containers of ours.
 */
export function poolPod(cluster: SearchCluster, pool: NodePool, inputsHash: string): PodTemplate {
  const settings = mergeSettings(cluster.pod, pool.pod);
  const mounted = poolVolumes(cluster, pool, settings.volumes);
  const spec = {
    ...mergeFields(podDefaults(cluster, pool), withoutFields(settings.spec, fieldsOfOurs)),
    ...placement(cluster, pool, settings),
    initContainers: [
      ...(settings.setsMaxMapCount ? [maxMapCountContainer(cluster, pool)] : []),
      prepare(cluster, pool, mounted),
      ...settings.initContainers,
    ],
    containers: [engineContainer(cluster, pool, { settings, mounted }), ...settings.sidecars],
    volumes: mounted.volumes,
  };
  return {
    metadata: {
      labels: { ...settings.labels, ...podLabels(cluster, pool) },
      annotations: { ...settings.annotations, [ownerAnnotations.inputsHash]: inputsHash },
    },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ours is typed above; what authors add passes through unread
    spec: spec as unknown as PodTemplate["spec"],
  };
}

const fieldsOfOurs: ReadonlySet<string> = new Set([
  "containers",
  "initContainers",
  "volumes",
  "restartPolicy",
]);

/** The user that the official images have. */
const engineUser = 1000;

function podDefaults(cluster: SearchCluster, pool: NodePool): JsonObject {
  const pullSecrets = [
    ...new Set([
      ...cluster.image.pullSecrets,
      ...(pool.pullSecrets ?? []),
      ...(cluster.helper?.image?.pullSecrets ?? []),
    ]),
  ];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: engineUser,
      runAsGroup: engineUser,
      fsGroup: engineUser,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
    // Time to hand over its shards and to write what is in memory.
    terminationGracePeriodSeconds: 120,
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
  };
}

/**
 * Pods of a pool prefer different machines, unless the author says where they run: an affinity takes the place of ours as a whole. On the
 * network of the machine they still have to find each other by the names of Services.
 */
function placement(cluster: SearchCluster, pool: NodePool, { spec }: PodSettings): JsonObject {
  const { affinity, hostNetwork } = spec;
  return {
    affinity: isJsonObject(affinity) ? affinity : spreadOver(poolLabels(cluster, pool)),
    ...(hostNetwork === true ? { dnsPolicy: "ClusterFirstWithHostNet" } : {}),
  };
}

function spreadOver(matchLabels: JsonObject): JsonObject {
  const podAffinityTerm = { labelSelector: { matchLabels }, topologyKey: "kubernetes.io/hostname" };
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
    },
  };
}

const containerSecurity: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};

function imageOf({ image }: SearchCluster, pool: NodePool): JsonObject {
  const pullPolicy = pool.pullPolicy ?? image.pullPolicy;
  return {
    image: pool.image ?? image.name,
    ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }),
  };
}

function prepare(cluster: SearchCluster, pool: NodePool, { prepareMounts }: PoolVolumes): JsonObject {
  const allowsMmap = "node.store.allow_mmap" in nodeSettings(cluster, pool);
  return {
    name: prepareContainer,
    ...imageOf(cluster, pool),
    command: prepareCommand(cluster, { allowsMmap }),
    securityContext: containerSecurity,
    volumeMounts: prepareMounts,
    ...helperResources(cluster, pool),
  };
}

/** By default the same as the engine's, which runs later: the pod asks for no more, and a quota finds them in every container. */
function helperResources({ helper }: SearchCluster, pool: NodePool): JsonObject {
  const resources = helper?.resources ?? pool.resources;
  return resources === undefined ? {} : { resources };
}

interface EngineOptions {
  readonly settings: PodSettings;
  readonly mounted: PoolVolumes;
}

function engineContainer(
  cluster: SearchCluster,
  pool: NodePool,
  { settings, mounted }: EngineOptions,
): JsonObject {
  const { engine } = podDialect(cluster);
  const ours: JsonObject = {
    name: engine,
    ...imageOf(cluster, pool),
    ...(settings.command === undefined ? {} : { command: ["/bin/bash", "-c", settings.command] }),
    env: engineEnvironment(cluster, pool),
    ports: [
      { name: "http", containerPort: cluster.httpPort, protocol: "TCP" },
      { name: "transport", containerPort: transportPort, protocol: "TCP" },
      ...(cluster.grpc === undefined
        ? []
        : [{ name: "grpc", containerPort: cluster.grpc.port, protocol: "TCP" }]),
    ],
    securityContext: containerSecurity,
    volumeMounts: mounted.engineMounts,
    ...(pool.resources === undefined ? {} : { resources: pool.resources }),
    ...poolProbes(cluster, settings.container["probes"]),
  };
  const merged = mergeFields(ours, withoutFields(settings.container, containerFieldsOfOurs));
  return { ...merged, env: withIdentity(merged["env"]) };
}

const containerFieldsOfOurs: ReadonlySet<string> = new Set([
  "name",
  "image",
  "command",
  "args",
  "ports",
  // Laid over ours by `poolProbes`: a container has no such field.
  "probes",
]);

const identity: readonly EnvVar[] = [
  { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
];

/** Who a node is, no author decides. */
function withIdentity(env: unknown): readonly unknown[] {
  const names = new Set(identity.map(({ name }) => name));
  const others: readonly unknown[] = Array.isArray(env) ? env : [];
  return [...identity, ...others.filter((each) => !names.has(textOf(each, "name") ?? ""))];
}

function engineEnvironment(cluster: SearchCluster, pool: NodePool): readonly EnvVar[] {
  const { javaOptions, environment } = podDialect(cluster);
  return Object.entries({ ...environment, [javaOptions]: jvmOptions(pool) })
    .map(([name, value]) => ({ name, value }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

/** Only where the author asks for it: it breaks the restricted profile. */
function maxMapCountContainer(cluster: SearchCluster, pool: NodePool): JsonObject {
  const image = cluster.helper?.image;
  return {
    name: "set-max-map-count",
    ...(image === undefined
      ? imageOf(cluster, pool)
      : {
          image: image.name,
          ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
        }),
    // The one shell that small images have, too.
    command: ["/bin/sh", "-c", "echo 262144 > /proc/sys/vm/max_map_count"],
    securityContext: { privileged: true, runAsUser: 0, runAsNonRoot: false },
    ...(cluster.helper?.resources === undefined ? {} : { resources: cluster.helper.resources }),
  };
}
