import { releaseOf } from "../owner-labels.ts";
import { readAutoscaling } from "./autoscaling-policy.ts";
import { versionOfImage } from "./image-version.ts";
import { podSettingsOf, present } from "./pod-settings.ts";
import type { ClusterObject } from "./read-cluster.ts";
import type { NodePool, NodeRole, PodSettings, PoolDisruptionBudget, PoolStorage } from "./search-cluster.ts";

type General = ClusterObject["spec"]["general"];
type PoolSpec = ClusterObject["spec"]["nodePools"][number];

/** A pool of the spec. Roles that no one knows are left out; the check names them. */
export function readPool(pool: PoolSpec, general: General, version: string): NodePool {
  const { component, replicas, additionalConfig = {}, resources } = pool;
  return {
    name: component,
    replicas,
    roles: [...new Set(pool.roles.flatMap((role) => readRole(role) ?? []))],
    storage: storageOf(pool),
    whenScaled: whenScaled(pool) ?? whenScaled(general) ?? "Retain",
    image: imageOf(pool, version),
    pullPolicy: present(pool.imagePullPolicy),
    pullSecrets: (pool.imagePullSecrets ?? []).flatMap(({ name }) => present(name) ?? []),
    jvm: present(pool.jvm),
    config: additionalConfig,
    resources,
    pdb: budgetOf(pool.pdb),
    autoscaling: readAutoscaling(pool),
    pod: poolPod(pool),
  };
}

/** Another build of the same version; one of another version is not taken, which the condition FieldsIgnored says. */
function imageOf({ image }: PoolSpec, version: string): string | undefined {
  const tagged = versionOfImage(image ?? "");
  return tagged === undefined || tagged === releaseOf(version) ? present(image) : undefined;
}

function whenScaled({
  persistentVolumeClaimRetentionPolicy: policy,
}: PoolSpec | General): NodePool["whenScaled"] | undefined {
  return policy?.whenScaled;
}

function poolPod(pool: PoolSpec): PodSettings {
  const { probes, sidecarContainers = [], initContainers = [] } = pool;
  const settings = podSettingsOf(pool);
  return {
    ...settings,
    container: { ...settings.container, ...(probes === undefined ? {} : { probes }) },
    sidecars: sidecarContainers,
    initContainers,
  };
}

function budgetOf(pdb: PoolSpec["pdb"]): PoolDisruptionBudget | undefined {
  if (pdb?.enable !== true) return undefined;
  const { minAvailable, maxUnavailable } = pdb;
  return {
    ...(minAvailable === undefined ? {} : { minAvailable }),
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
  };
}

const accepted: readonly NodeRole[] = [
  "cluster_manager",
  "data",
  "data_content",
  "data_hot",
  "data_warm",
  "data_cold",
  "data_frozen",
  "ingest",
  "ml",
  "remote_cluster_client",
  "search",
  "transform",
  "voting_only",
  "warm",
  "coordinating_only",
];

/** A role by any name that it has had; undefined when it is not one. */
export function readRole(role: string): NodeRole | undefined {
  const known = role === "master" ? "cluster_manager" : role;
  return accepted.find((each) => each === known);
}

/** For messages. */
export const acceptedRoles: readonly string[] = [...accepted, "master"];

function storageOf({ persistence = {}, diskSize = "30Gi" }: PoolSpec): PoolStorage {
  const { emptyDir, hostPath, pvc = {} } = persistence;
  if (emptyDir !== undefined) return { kind: "emptyDir", source: emptyDir };
  if (hostPath !== undefined) return { kind: "hostPath", source: hostPath };
  return volumeOf(pvc, String(diskSize));
}

type ClaimSpec = NonNullable<NonNullable<PoolSpec["persistence"]>["pvc"]>;

function volumeOf(
  { accessModes = [], labels = {}, annotations = {}, ...rest }: ClaimSpec,
  size: string,
): PoolStorage {
  return {
    kind: "volume",
    size,
    storageClass: present(rest.storageClass),
    accessModes: accessModes.length === 0 ? ["ReadWriteOnce"] : accessModes,
    labels,
    annotations,
  };
}
