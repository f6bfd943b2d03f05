import { cel, int32, intOrString, map, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectNameOrEmpty } from "../object-name.ts";

/**
 * Fields of pods. They are kept as they are and checked by the API server when the pod template is built: a copy of Kubernetes' own
 * schema would make the CRD too large for `kubectl apply`.
 */
const podLevel = {
  affinity: raw().optional().describe("Affinity of the pods, as in a pod's spec."),
  annotations: map(z.string()).optional().describe("Annotations of the pods."),
  env: z.array(raw()).optional().describe("Environment variables of the container, as in a pod's spec."),
  hostAliases: z.array(raw()).optional().describe("Entries of the pods' hosts file, as in a pod's spec."),
  labels: map(z.string()).optional().describe("Labels of the pods, besides those of the operator."),
  nodeSelector: map(z.string()).optional().describe("Labels of the machines that the pods may run on."),
  priorityClassName: objectNameOrEmpty().optional().describe("PriorityClass of the pods."),
  resources: raw().optional().describe("Requests and limits of the container, as in a pod's spec."),
  tolerations: z.array(raw()).optional().describe("Tolerations of the pods, as in a pod's spec."),
};

const spread = {
  topologySpreadConstraints: z
    .array(raw())
    .optional()
    .describe("How pods are spread over machines and zones, as in a pod's spec."),
};

const contexts = {
  podSecurityContext: raw().optional().describe("securityContext of the pods, as in a pod's spec."),
  securityContext: raw().optional().describe("securityContext of the containers, as in a pod's spec."),
};

const images = {
  image: z.string().max(1024).optional().describe("Image, with its tag."),
  imagePullPolicy: z.string().max(32).optional().describe("Always, IfNotPresent or Never."),
  imagePullSecrets: z
    .array(z.strictObject({ name: secretName() }))
    .optional()
    .describe("Secrets of the namespace with logins of the registry."),
};

/** Groups of fields that several parts of a cluster have. */
export const podFields = { podLevel, spread, contexts, images };

/** Name of a Secret; empty is the same as absent. */
export function secretName(): z.ZodOptional<z.ZodString> {
  return objectNameOrEmpty().optional().describe("Name of the object, in the namespace of the cluster.");
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
        name: z.string().min(1).max(63).describe("Name of the volume."),
        path: z.string().min(1).max(4096).describe("Where it is mounted."),
        subPath: z.string().max(4096).optional().describe("Path within the volume."),
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
  .describe("Volumes that are mounted besides those of the operator.");

/** Entries of the engine's keystore. */
export const keystore = z
  .array(
    z.strictObject({
      secret: secretReference("Secret with the values."),
      keyMappings: map(z.string())
        .optional()
        .describe("Key in the Secret to name in the keystore. Defaults to all keys under their own names."),
    }),
  )
  .max(64)
  .optional()
  .describe("Entries of the engine's keystore, from Secrets.");

const probe = {
  failureThreshold: int32().optional().describe("How many failures in a row count."),
  initialDelaySeconds: int32().optional().describe("Seconds before the first probe."),
  periodSeconds: int32().optional().describe("Seconds between probes."),
  successThreshold: int32().optional().describe("How many successes in a row count."),
  timeoutSeconds: int32().optional().describe("Seconds that a probe may take."),
};
const command = z.array(z.string()).optional().describe("Command instead of the operator's own probe.");

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
  .describe("Times of the probes.");

/** Settings by name. Authors make us read them, so their number and length have limits: 64 KiB count for all of a cluster. */
export function settings(): z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodString>> {
  return map(z.string().max(8192), 500).optional();
}

/** A size such as `30Gi`. */
export function size(what: string): z.ZodOptional<ReturnType<typeof intOrString>> {
  return intOrString(32).optional().describe(what);
}
