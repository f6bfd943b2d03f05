import { z } from "zod";

const annotations = z.record(z.string(), z.string()).optional();

/** The parts of a PersistentVolumeClaim that provisioning looks at. */
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

/** The parts of a PersistentVolume that provisioning looks at. */
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

/** What is to be done: level-triggered, from what there is now. */
export interface VolumePlan {
  readonly make: readonly VolumeToMake[];
  /** Volumes whose claim is gone and whose data goes with it. */
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
export function desiredStorageClass(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: STORAGE_CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  };
}
