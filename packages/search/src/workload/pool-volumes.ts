import type { JsonObject } from "@quartermaster/runtime";
import type { Volume, VolumeMount } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import {
  certificateDirectory,
  fileRealmDirectory,
  securityFilesDirectory,
} from "../distributions/pod-dialect.ts";
import { clusterNames, poolNames } from "../model/cluster-names.ts";
import {
  isManagerPool,
  isPlainOpenSearch,
  type NodePool,
  type SearchCluster,
} from "../model/search-cluster.ts";
import { attributeMounts, attributeVolumes } from "./attribute-annotation.ts";
import { bootstrapPath, keystorePath, preparedPath, wantedPath } from "./prepare.ts";

/** Name of the volume with a node's data: part of the names of claims, and therefore of stored data. */
export const dataVolume = "data";

/** The volumes of a pool's pods, and who sees them where. */
export interface PoolVolumes {
  readonly volumes: readonly (Volume | JsonObject)[];
  readonly engineMounts: readonly VolumeMount[];
  readonly prepareMounts: readonly VolumeMount[];
}

/** Everything that pods of the pool mount. The author's volumes are the engine's alone. */
export function poolVolumes(
  cluster: SearchCluster,
  pool: NodePool,
  extra: readonly JsonObject[],
): PoolVolumes {
  const secured = [
    ...certificateVolumes(cluster),
    ...fileRealmVolumes(cluster),
    ...securityFileVolumes(cluster),
  ];
  return {
    volumes: [
      { name: "prepared", emptyDir: {} },
      { name: "logs", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
      { name: "wanted", configMap: { name: poolNames(cluster, pool).config } },
      ...(isManagerPool(pool)
        ? [{ name: "bootstrap", configMap: { name: clusterNames(cluster).bootstrap } }]
        : []),
      ...cluster.keystore.map(({ secretName }, index) => ({
        name: keystoreVolume(index),
        secret: { secretName },
      })),
      ...secured.map(({ volume }) => volume),
      ...attributeVolumes(cluster),
      ...storageVolumes(pool),
      ...extra.map(volumeOf),
    ],
    engineMounts: withoutOwnPaths([...engineMounts(cluster), ...secured.map(({ mount }) => mount)], extra),
    prepareMounts: [
      { name: "prepared", mountPath: preparedPath },
      { name: "tmp", mountPath: "/tmp" },
      { name: "wanted", mountPath: wantedPath, readOnly: true },
      ...(isManagerPool(pool) ? [{ name: "bootstrap", mountPath: bootstrapPath, readOnly: true }] : []),
      ...cluster.keystore.map((_, index) => ({
        name: keystoreVolume(index),
        mountPath: keystorePath(index),
        readOnly: true,
      })),
      ...attributeMounts(cluster),
    ],
  };
}

/** Ours, and the author's where no volume of ours is: those are writable already, and `workloadIssues` names any other volume there. */
function withoutOwnPaths(own: readonly VolumeMount[], extra: readonly JsonObject[]): readonly VolumeMount[] {
  const taken = new Set(own.map(({ mountPath }) => mountPath));
  return [...own, ...extra.map(mountOf).filter(({ mountPath }) => !taken.has(mountPath))];
}

/** Paths at which the engine has volumes of ours, whatever else it has. */
export function ownPaths(cluster: SearchCluster): ReadonlySet<string> {
  return new Set(engineMounts(cluster).map(({ mountPath }) => mountPath));
}

function engineMounts({ home, plugins }: SearchCluster): readonly VolumeMount[] {
  const installed = plugins.length === 0 ? [] : ["bin", "plugins"];
  return [
    { name: dataVolume, mountPath: `${home}/data` },
    { name: "logs", mountPath: `${home}/logs` },
    { name: "tmp", mountPath: "/tmp" },
    // The engine writes its keystore here.
    { name: "prepared", mountPath: `${home}/config`, subPath: "config" },
    ...installed.map((part) => ({
      name: "prepared",
      mountPath: `${home}/${part}`,
      subPath: part,
      readOnly: true,
    })),
  ];
}

interface MountedVolume {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}

/**
 * Certificates of both layers in one volume: kubelet swaps its whole content in one step, so what one file proves holds for all of them. A
 * leaf may be the author's; whom nodes trust is always in our own Secret, because the operator's CA is part of it.
 */
function certificateVolumes(cluster: SearchCluster): readonly MountedVolume[] {
  const { security, home } = cluster;
  const names = clusterNames(cluster);
  if (!security.isEnabled) return [];
  const layers = [
    { layer: "transport", settings: security.transport, own: names.transportCertificate },
    { layer: "http", settings: security.http, own: names.httpCertificate },
  ].filter(({ settings }) => settings.isEnabled);
  const sources = layers.flatMap(({ layer, settings, own }) => [
    secretSource(settings.isGenerated ? own : (settings.secret ?? own), [
      { key: "tls.crt", path: `${layer}.crt` },
      { key: "tls.key", path: `${layer}.key` },
    ]),
    secretSource(own, [{ key: "ca.crt", path: `${layer}-ca.crt` }]),
  ]);
  return [
    {
      volume: { name: "certificates", projected: { defaultMode: 0o440, sources } },
      mount: { name: "certificates", mountPath: `${home}/config/${certificateDirectory}`, readOnly: true },
    },
  ];
}

function secretSource(name: string, items: readonly JsonObject[]): JsonObject {
  return { secret: { name, items } };
}

/** A directory, not single files: kubelet cannot refresh a file that is mounted on its own. */
function fileRealmVolumes(cluster: SearchCluster): readonly MountedVolume[] {
  if (!podDialect(cluster).hasFileRealm || !cluster.security.isEnabled) return [];
  const items = ["users", "users_roles", "roles.yml"].map((key) => ({ key, path: key, mode: 0o440 }));
  return [
    {
      volume: { name: "file-realm", secret: { secretName: clusterNames(cluster).fileRealm, items } },
      mount: {
        name: "file-realm",
        mountPath: `${cluster.home}/config/${fileRealmDirectory}`,
        readOnly: true,
      },
    },
  ];
}

/** In place of the image's own files, which have users for demonstrations. */
function securityFileVolumes(cluster: SearchCluster): readonly MountedVolume[] {
  if (!isPlainOpenSearch(cluster)) return [];
  const name = "security-files";
  return [
    {
      volume: {
        name,
        projected: {
          defaultMode: 0o440,
          sources: [{ secret: { name: clusterNames(cluster).securityFiles } }],
        },
      },
      mount: { name, mountPath: `${cluster.home}/config/${securityFilesDirectory}`, readOnly: true },
    },
  ];
}

/** Claims come from the StatefulSet's templates. */
function storageVolumes({ storage }: NodePool): readonly (Volume | JsonObject)[] {
  return storage.kind === "volume" ? [] : [{ name: dataVolume, [storage.kind]: storage.source }];
}

/** `additionalVolumes`: a name, one source, and where the engine sees it. */
function volumeOf({
  path: _path,
  subPath: _subPath,
  readOnly: _readOnly,
  restartPods: _restartPods,
  ...volume
}: JsonObject): JsonObject {
  return volume;
}

function mountOf({ name, path, subPath, readOnly }: JsonObject): VolumeMount {
  return {
    name: String(name),
    mountPath: String(path),
    ...(typeof subPath === "string" && subPath !== "" ? { subPath } : {}),
    ...(readOnly === true ? { readOnly: true } : {}),
  };
}

function keystoreVolume(index: number): string {
  return `keystore-${String(index)}`;
}
