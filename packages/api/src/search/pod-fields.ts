import { cel, int32, intOrString, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";

/**
 * Fields of pods. They are kept as they are and checked by the API server when the pod template is built: a copy of Kubernetes' own
 * schema would make the CRD too large for `kubectl apply`.
 */
const podLevel = {
  affinity: raw().optional().describe("Affinity of the pods, as in a pod's spec."),
  annotations: map(z.string())
    .optional()
    .describe("Annotations of the pods, and of the objects that make them."),
  env: z.array(raw()).optional().describe("Environment variables of the container, as in a pod's spec."),
  hostAliases: z
    .array(raw())
    .optional()
    .describe("Additional entries in the hosts file of the pods, as in a pod's spec."),
  labels: map(z.string())
    .optional()
    .describe("Labels of the pods and of the objects that make them, in addition to those of the operator."),
  nodeSelector: map(z.string()).optional().describe("Labels that a machine must have to run the pods."),
  priorityClassName: objectNameOrEmpty().optional().describe("PriorityClass of the pods."),
  resources: raw().optional().describe("Resource requests and limits of the container, as in a pod's spec."),
  tolerations: z.array(raw()).optional().describe("Tolerations of the pods, as in a pod's spec."),
};

const spread = {
  topologySpreadConstraints: z
    .array(raw())
    .optional()
    .describe("How pods are spread across machines and zones, as in a pod's spec."),
};

const contexts = {
  podSecurityContext: raw().optional().describe("securityContext of the pods, as in a pod's spec."),
  securityContext: raw().optional().describe("securityContext of the containers, as in a pod's spec."),
};

const images = {
  image: z
    .string()
    .max(1024)
    .optional()
    .describe("Image with its tag. Defaults to the official image of the version."),
  imagePullPolicy: z
    .string()
    .max(32)
    .optional()
    .describe("When to pull the image: Always, IfNotPresent or Never."),
  imagePullSecrets: z
    .array(z.strictObject({ name: secretName() }))
    .optional()
    .describe("Secrets with registry credentials, in the namespace of the cluster."),
};

/** Groups of fields that several parts of a cluster have. */
export const podFields = { podLevel, spread, contexts, images };

/** Name of a Secret; empty is the same as absent. */
export function secretName(): z.ZodOptional<z.ZodString> {
  return objectNameOrEmpty().optional().describe("Name of the Secret, in the namespace of the cluster.");
}

/** A reference to a Secret of the same namespace. */
export function secretReference(
  what: string,
): z.ZodOptional<z.ZodObject<{ name: z.ZodOptional<z.ZodString> }>> {
  return z.strictObject({ name: secretName() }).optional().describe(what);
}

const sources = [
  "secret",
  "configMap",
  "emptyDir",
  "csi",
  "persistentVolumeClaim",
  "projected",
  "nfs",
  "hostPath",
] as const;

/** Volumes that are mounted into the pods besides those of the operator. */
export const additionalVolumes = z
  .array(
    cel(
      z.strictObject({
        name: z.string().min(1).max(63).describe("Name of the volume. At most 63 characters."),
        path: z.string().min(1).max(4096).describe("Directory or file that the volume is mounted at."),
        subPath: z
          .string()
          .max(4096)
          .optional()
          .describe("Path within the volume to mount. Defaults to its root."),
        restartPods: z
          .boolean()
          .optional()
          .describe("Whether a change of the Secret or ConfigMap restarts the pods. Defaults to false."),
        ...Object.fromEntries(
          sources.map((source) => [
            source,
            raw().optional().describe(`Source ${source}, as in a volume of a pod.`),
          ]),
        ),
      }),
      {
        rule: `${sources.map((source) => `(has(self.${source})?1:0)`).join("+")} == 1`,
        message: `exactly one of ${sources.join(", ")} must be set`,
      },
    ),
  )
  .max(64)
  .optional()
  .describe(
    "Volumes to mount in addition to those of the operator. Each has exactly one source. At most 64.",
  );

/** Names or addresses of plugins. */
export const plugins: z.ZodOptional<z.ZodArray<z.ZodString>> = z
  .array(z.string().max(2048))
  .max(64)
  .optional();

/** Entries of the engine's keystore. */
export const keystore = z
  .array(
    z.strictObject({
      secret: secretReference("Secret with the values."),
      keyMappings: map(z.string())
        .optional()
        .describe(
          "Keys of the Secret, each with its name in the keystore. Defaults to all keys under their own names.",
        ),
    }),
  )
  .max(64)
  .optional()
  .describe(
    "Entries of the engine's keystore, from Secrets. A change of a Secret restarts the nodes one at a time. At most 64.",
  );

const probe = {
  failureThreshold: int32()
    .optional()
    .describe("Number of consecutive failures after which the probe has failed."),
  initialDelaySeconds: int32().optional().describe("Time in seconds before the first probe."),
  periodSeconds: int32().optional().describe("Time in seconds between two probes."),
  successThreshold: int32()
    .optional()
    .describe("Number of consecutive successes after which the probe has succeeded."),
  timeoutSeconds: int32().optional().describe("Timeout of the probe in seconds."),
};
const command = z.array(z.string()).optional().describe("Command to run instead of the operator's probe.");

/** Probes of the engine's container. */
export const probes = z
  .strictObject({
    liveness: z.strictObject(probe).optional().describe("Liveness probe."),
    readiness: z
      .strictObject({ ...probe, command })
      .optional()
      .describe("Readiness probe."),
    startup: z
      .strictObject({ ...probe, command })
      .optional()
      .describe("Startup probe."),
  })
  .optional()
  .describe("Probes of the engine's container. Each field defaults to the operator's value.");

/** Settings by name. Authors make us read them, so their number and length have limits: 64 KiB count for all of a cluster. */
export function settings(): z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodString>> {
  return map(z.string().max(8192), 500).optional();
}

/** A size such as `30Gi`. */
export function size(what: string): z.ZodOptional<ReturnType<typeof intOrString>> {
  return intOrString(32).optional().describe(what);
}
