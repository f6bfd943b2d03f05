import { cel, int32, intOrString, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";
import { autoscaling, managersStay } from "./autoscaling.ts";
import { podFields, probes, settings, size } from "./pod-fields.ts";

const persistence = z
  .strictObject({
    emptyDir: raw().optional().describe("Data goes with the pod; for tests and caches."),
    hostPath: raw().optional().describe("A folder of the machine. Not allowed where pods are restricted."),
    pvc: z
      .strictObject({
        accessModes: z
          .array(z.string())
          .optional()
          .describe("Access modes of the volume. Defaults to ReadWriteOnce."),
        annotations: map(z.string()).optional().describe("Annotations of the claims."),
        labels: map(z.string()).optional().describe("Labels of the claims."),
        storageClass: objectNameOrEmpty()
          .optional()
          .describe("StorageClass of the claims. Defaults to the cluster's default."),
      })
      .optional()
      .describe("A PersistentVolumeClaim for each node: the default."),
  })
  .optional()
  .describe("Where nodes keep their data. Defaults to a PersistentVolumeClaim of the default StorageClass.");

const retention = z.enum(["Retain", "Delete"]).optional();

/** What becomes of claims. */
export const claimRetention = z
  .strictObject({
    whenDeleted: retention.describe("When the cluster is deleted. Defaults to Retain."),
    whenScaled: retention.describe("When a node is removed for good. Defaults to Retain."),
  })
  .optional()
  .describe(
    "What becomes of PersistentVolumeClaims. Delete acts only once no claim holds the only copy of a shard.",
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
      .describe("Name of the pool; its StatefulSet is <cluster>-<component>."),
    replicas: int32()
      .min(0)
      .max(1000)
      .describe("How many nodes; in autoscaling mode Auto, how many to start with."),
    roles: z
      .array(z.string().max(64))
      .max(16)
      .describe("Roles of the nodes in the engine's words; empty for nodes that only coordinate requests."),
    additionalConfig: settings().describe("Settings of the engine for this pool."),
    autoscaling,
    diskSize: size(
      "Size of the volume of each node. Of a pool that runs it is not changed: the operator holds another size and says so. Defaults to 30Gi.",
    ),
    image: podFields.images.image,
    initContainers: z.array(raw()).optional().describe("Init containers that run before the engine."),
    jvm: z.string().max(4096).optional().describe("Options of the JVM, e.g. -Xmx1g -Xms1g."),
    pdb: z
      .strictObject({
        enable: z.boolean().optional().describe("Whether the pool has a PodDisruptionBudget of its own."),
        maxUnavailable: intOrString().optional().describe("Pods that may be unavailable."),
        minAvailable: intOrString().optional().describe("Pods that must stay available."),
      })
      .optional()
      .describe(
        "PodDisruptionBudget of the pool. Defaults to the operator's, which follows the cluster's health.",
      ),
    persistence,
    persistentVolumeClaimRetentionPolicy: claimRetention,
    probes,
    sidecarContainers: z.array(raw()).optional().describe("Containers that run beside the engine."),
    ...podFields.podLevel,
    ...podFields.spread,
  }),
  fixedClass,
  managersStay,
);
