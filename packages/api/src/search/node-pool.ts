import { cel, int32, intOrString, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { autoscaling, managersStay } from "./autoscaling.ts";
import { podFields, probes, settings, size } from "./pod-fields.ts";

const persistence = z
  .strictObject({
    emptyDir: raw()
      .optional()
      .describe("emptyDir volume, as in a pod's spec. The data is lost with the pod. For tests and caches."),
    hostPath: raw()
      .optional()
      .describe(
        "Directory of the machine, as in a pod's spec. Not allowed in namespaces that enforce a restricted profile.",
      ),
    pvc: z
      .strictObject({
        accessModes: z
          .array(z.string())
          .optional()
          .describe("Access modes of the claims. Defaults to ReadWriteOnce."),
        annotations: map(z.string()).optional().describe("Annotations of the claims."),
        labels: map(z.string()).optional().describe("Labels of the claims."),
        storageClass: objectNameOrEmpty()
          .optional()
          .describe(
            "StorageClass of the claims. Defaults to the default StorageClass of Kubernetes. Cannot be changed.",
          ),
      })
      .optional()
      .describe("PersistentVolumeClaim for each node. This is the default."),
  })
  .optional()
  .describe(
    "Where the nodes keep their data. Defaults to a PersistentVolumeClaim of the default StorageClass. A change of a running pool is held.",
  );

const retention = z.enum(["Retain", "Delete"]).optional();

export const claimRetention = z
  .strictObject({
    whenDeleted: retention.describe("What happens when the cluster is deleted. Defaults to Retain."),
    whenScaled: retention.describe("What happens when a node is removed permanently. Defaults to Retain."),
  })
  .optional()
  .describe(
    "What happens to PersistentVolumeClaims. Delete takes effect only once no claim has the only copy of a shard.",
  );

const classOf = (pool: string): string =>
  `(has(${pool}.persistence) && has(${pool}.persistence.pvc) && has(${pool}.persistence.pvc.storageClass) ? ${pool}.persistence.pvc.storageClass : '')`;

const fixedClass = {
  rule: `${classOf("self")} == ${classOf("oldSelf")}`,
  message:
    "the storageClass of a pool is fixed: add a pool with the new class and drop this one in the same edit",
  fieldPath: ".persistence",
} as const;

/** Nodes that are alike. */
export const nodePool = cel(
  z.strictObject({
    component: z
      .string()
      .min(1)
      .max(50)
      .describe("Name of the pool. Its StatefulSet is named <cluster>-<component>. At most 50 characters."),
    replicas: int32()
      .min(0)
      .max(1000)
      .describe(
        "Number of nodes. In autoscaling mode Auto, the number to start with. A higher number adds nodes immediately, a lower one drains and removes nodes one at a time. At most 1000.",
      ),
    roles: z
      .array(z.string().max(64))
      .max(16)
      .describe(
        "Roles of the nodes, as the engine names them, e.g. cluster_manager, data or ingest. Empty for nodes that only coordinate requests. At most 16.",
      ),
    additionalConfig: settings().describe(
      "Settings of the engine for this pool, in addition to those in general. A change restarts the nodes of the pool one at a time. At most 500.",
    ),
    autoscaling,
    diskSize: size(
      "Size of the volume of each node, e.g. 30Gi. Defaults to 30Gi. A change of a running pool is held and reported.",
    ),
    image: podFields.images.image.describe(
      "Image of the engine for this pool, of the cluster's version. Defaults to general.image. A change restarts the nodes of the pool one at a time.",
    ),
    imagePullPolicy: podFields.images.imagePullPolicy,
    imagePullSecrets: podFields.images.imagePullSecrets,
    initContainers: z
      .array(raw())
      .optional()
      .describe("Init containers that run before the engine, as in a pod's spec."),
    jvm: z
      .string()
      .max(4096)
      .optional()
      .describe("JVM options, e.g. -Xmx1g -Xms1g. A change restarts the nodes of the pool one at a time."),
    pdb: z
      .strictObject({
        enable: z
          .boolean()
          .optional()
          .describe("Whether the pool has its own PodDisruptionBudget. Defaults to false."),
        maxUnavailable: intOrString()
          .optional()
          .describe("Number or percentage of pods that may be unavailable."),
        minAvailable: intOrString()
          .optional()
          .describe("Number or percentage of pods that must stay available."),
      })
      .optional()
      .describe(
        "PodDisruptionBudget of the pool. Defaults to the operator's budget for the whole cluster, which depends on the cluster's health.",
      ),
    persistence,
    persistentVolumeClaimRetentionPolicy: claimRetention,
    probes,
    sidecarContainers: z.array(raw()).optional().describe("Sidecar containers, as in a pod's spec."),
    ...podFields.podLevel,
    ...podFields.spread,
  }),
  fixedClass,
  managersStay,
);
