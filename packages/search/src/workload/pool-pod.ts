import { type JsonObject, textOf, withoutFields } from "@quartermaster/runtime";
import type { EnvVar, PodTemplate } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import type { NodePool, PodSettings, SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations } from "../owner-labels.ts";
import { podLabels } from "./cluster-labels.ts";
import { jvmOptions } from "./jvm-options.ts";
import { mergeFields, mergeSettings } from "./merge-settings.ts";
import { nodeSettings, transportPort } from "./node-settings.ts";
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
    ...mergeFields(podDefaults(cluster), withoutFields(settings.spec, fieldsOfOurs)),
    initContainers: [
      ...(settings.setsMaxMapCount ? [maxMapCountContainer(cluster)] : []),
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

function podDefaults({ image }: SearchCluster): JsonObject {
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
    ...(image.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: image.pullSecrets.map((name) => ({ name })) }),
  };
}

const containerSecurity: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};

function imageOf({ image }: SearchCluster): JsonObject {
  return {
    image: image.name,
    ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
  };
}

function prepare(cluster: SearchCluster, pool: NodePool, { prepareMounts }: PoolVolumes): JsonObject {
  const allowsMmap = "node.store.allow_mmap" in nodeSettings(cluster, pool);
  return {
    name: prepareContainer,
    ...imageOf(cluster),
    command: prepareCommand(cluster, { allowsMmap }),
    securityContext: containerSecurity,
    volumeMounts: prepareMounts,
    // The same as the engine's, which runs later: the pod requests no more, and a quota finds them in every container.
    ...(pool.resources === undefined ? {} : { resources: pool.resources }),
  };
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
    ...imageOf(cluster),
    ...(settings.command === undefined ? {} : { command: ["/bin/bash", "-c", settings.command] }),
    env: engineEnvironment(cluster, pool),
    ports: [
      { name: "http", containerPort: cluster.httpPort, protocol: "TCP" },
      { name: "transport", containerPort: transportPort, protocol: "TCP" },
    ],
    securityContext: containerSecurity,
    volumeMounts: mounted.engineMounts,
    ...(pool.resources === undefined ? {} : { resources: pool.resources }),
    ...probes(cluster),
  };
  const merged = mergeFields(ours, withoutFields(settings.container, containerFieldsOfOurs));
  return { ...merged, env: withIdentity(merged["env"]) };
}

const containerFieldsOfOurs: ReadonlySet<string> = new Set(["name", "image", "command", "args", "ports"]);

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

/** None of them needs a login or a quorum: a probe that does turns a lost quorum into restarts, and a lost password into an outage. */
function probes(cluster: SearchCluster): JsonObject {
  const tcp = { tcpSocket: { port: cluster.httpPort } };
  return {
    // Ten minutes for the first start: shards are opened before the port is.
    startupProbe: { ...tcp, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 120 },
    livenessProbe: { ...tcp, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 10 },
    readinessProbe: {
      ...podDialect(cluster).readiness(cluster),
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
  };
}

/** Only where the author requests it: it breaks the restricted profile. */
function maxMapCountContainer(cluster: SearchCluster): JsonObject {
  return {
    name: "set-max-map-count",
    ...imageOf(cluster),
    command: ["/bin/bash", "-c", "echo 262144 > /proc/sys/vm/max_map_count"],
    securityContext: { privileged: true, runAsUser: 0, runAsNonRoot: false },
  };
}
