/** The parts of a PersistentVolumeClaim that provisioning looks at. */
export interface Claim {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly accessModes: readonly string[];
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly volumeMode?: string;
    readonly resources: { readonly requests: { readonly storage: string } };
  };
}

/** The parts of a PersistentVolume that provisioning looks at. */
export interface Volume {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>>; readonly deletionTimestamp?: string };
  readonly spec: { readonly persistentVolumeReclaimPolicy?: string; readonly local?: { readonly path: string } };
  readonly status?: { readonly phase?: string };
}

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
  return isOurs && isWaiting && node !== undefined ? [{ claim, volumeName: `pvc-${metadata.uid}`, node }] : [];
}

function isToBeRemoved({ metadata, spec, status }: Volume): boolean {
  const isOurs = metadata.annotations?.["pv.kubernetes.io/provisioned-by"] === PROVISIONER;
  return isOurs && status?.phase === "Released" && spec.persistentVolumeReclaimPolicy === "Delete" && metadata.deletionTimestamp === undefined;
}

/**
 * A volume whose data lies on one node and stays there: a `local` volume, because kubelet gives those to the pod's fsGroup,
 * which it does not do for hostPath.
 */
export function desiredVolume({ claim, volumeName, node }: VolumeToMake, path: string): Readonly<Record<string, unknown>> {
  const { metadata, spec } = claim;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volumeName, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: {
      accessModes: spec.accessModes,
      capacity: { storage: spec.resources.requests.storage },
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }] } },
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
