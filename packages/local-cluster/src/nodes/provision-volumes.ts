import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { type ApiAccess, type ApiResponse, ApiClient } from "../api/api-client.ts";
import { launch } from "../process/launch.ts";
import type { System } from "../system/system.ts";
import { volumesDirectory } from "./node-paths.ts";

/** Gives a cluster its default StorageClass and starts the process that makes the volumes. Needs no real nodes and no root. */
export async function startVolumeProvisioner(
  directory: string,
  access: ApiAccess,
  system: System,
): Promise<void> {
  using api = new ApiClient(access);
  await api.apply(`/apis/storage.k8s.io/v1/storageclasses/${STORAGE_CLASS}`, desiredStorageClass());
  const accessFile = join(directory, "pki", "volume-provisioner.json");
  writeFileSync(accessFile, JSON.stringify(access), { mode: 0o600 });
  const entry = join(import.meta.dirname, "volume-provisioner.ts");
  launch(
    {
      name: "volume-provisioner",
      directory,
      command: process.execPath,
      args: ["--max-old-space-size=64", entry, directory, accessFile],
    },
    system,
  );
}

/** Does what the claims and volumes ask for. All of it may be done again. */
export async function provisionVolumes(
  directory: string,
  { claims, volumes }: { readonly claims: readonly Claim[]; readonly volumes: readonly Volume[] },
  api: ApiClient,
): Promise<void> {
  const { make, remove } = planVolumes(claims, volumes);
  for (const volume of make) await makeVolume(directory, volume, api);
  for (const volume of remove) await removeVolume(directory, volume, api);
}

/** Any user may write its directory: the pod's user is not known here. */
async function makeVolume(directory: string, volume: VolumeToMake, api: ApiClient): Promise<void> {
  const path = join(volumesDirectory(directory, volume.node), volume.volumeName);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  await api.apply(`/api/v1/persistentvolumes/${volume.volumeName}`, desiredVolume(volume, path));
}

/** The data goes first: a volume that is cut off here is still on the list and is removed by the next pass. */
async function removeVolume(directory: string, { metadata, spec }: Volume, api: ApiClient): Promise<void> {
  const path = spec.local?.path;
  if (path?.startsWith(`${join(directory, "nodes")}/`) === true)
    rmSync(path, { recursive: true, force: true });
  expectSuccess(await api.send({ method: "DELETE", path: `/api/v1/persistentvolumes/${metadata.name}` }));
}

function expectSuccess(response: ApiResponse): void {
  if (response.status < 300 || response.status === 404) return;
  throw new Error(`the API server responded ${response.status}: ${response.body.slice(0, 300)}`);
}

const annotations = z.record(z.string(), z.string()).optional();

/** The parts of a PersistentVolumeClaim that provisioning reads. */
export const claimSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    annotations,
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    accessModes: z.array(z.string()),
    storageClassName: z.string().optional(),
    volumeName: z.string().optional(),
    volumeMode: z.string().optional(),
    resources: z.object({ requests: z.object({ storage: z.string() }) }),
  }),
});

/** The parts of a PersistentVolume that provisioning reads. */
export const volumeSchema = z.object({
  metadata: z.object({ name: z.string(), annotations, deletionTimestamp: z.string().optional() }),
  spec: z.object({
    persistentVolumeReclaimPolicy: z.string().optional(),
    local: z.object({ path: z.string() }).optional(),
  }),
  status: z.object({ phase: z.string().optional() }).optional(),
});

/** A claim as provisioning sees it. */
export type Claim = Readonly<z.infer<typeof claimSchema>>;
/** A volume as provisioning sees it. */
export type Volume = Readonly<z.infer<typeof volumeSchema>>;

/** Name of the default StorageClass. */
export const STORAGE_CLASS = "standard";
/** Who makes the volumes of that class. */
export const PROVISIONER = "quartermaster.local/volumes";

/** A claim that waits for its volume, on the node that the scheduler has chosen for its pod. */
export interface VolumeToMake {
  readonly claim: Claim;
  readonly volumeName: string;
  readonly node: string;
}

/** Actions: level-triggered, from the present state. */
export interface VolumePlan {
  readonly make: readonly VolumeToMake[];
  /** Volumes whose claim no longer exists and whose data goes with it. */
  readonly remove: readonly Volume[];
}

/** Decides which volumes are to be made and which removed. Volumes of others are left alone. */
export function planVolumes(claims: readonly Claim[], volumes: readonly Volume[]): VolumePlan {
  const existing = new Set(volumes.map(({ metadata }) => metadata.name));
  return {
    make: claims.flatMap(volumeFor).filter(({ volumeName }) => !existing.has(volumeName)),
    remove: volumes.filter(isToBeRemoved),
  };
}

function volumeFor(claim: Claim): readonly VolumeToMake[] {
  const { metadata, spec } = claim;
  const node = metadata.annotations?.["volume.kubernetes.io/selected-node"];
  const isOurs = spec.storageClassName === STORAGE_CLASS && spec.volumeMode !== "Block";
  const isWaiting = spec.volumeName === undefined && metadata.deletionTimestamp === undefined;
  return isOurs && isWaiting && node !== undefined
    ? [{ claim, volumeName: `pvc-${metadata.uid}`, node }]
    : [];
}

function isToBeRemoved({ metadata, spec, status }: Volume): boolean {
  const isOurs = metadata.annotations?.["pv.kubernetes.io/provisioned-by"] === PROVISIONER;
  return (
    isOurs &&
    status?.phase === "Released" &&
    spec.persistentVolumeReclaimPolicy === "Delete" &&
    metadata.deletionTimestamp === undefined
  );
}

/**
 * A volume whose data lies on one node and stays there: a `local` volume, because kubelet gives those to the pod's fsGroup,
 * which it does not do for hostPath.
 */
export function desiredVolume(
  { claim, volumeName, node }: VolumeToMake,
  path: string,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = claim;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volumeName, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: {
      accessModes: spec.accessModes,
      capacity: { storage: spec.resources.requests.storage },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
      },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] },
          ],
        },
      },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: STORAGE_CLASS,
      volumeMode: "Filesystem",
    },
  };
}

/** The default StorageClass. The volume is made where the pod is put, not the other way round. */
function desiredStorageClass(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: STORAGE_CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  };
}
