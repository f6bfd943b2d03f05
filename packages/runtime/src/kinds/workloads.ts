import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { PersistentVolumeClaim, PodTemplate, StatusCondition, StringMap } from "./core.ts";

/** Selects objects by their labels. */
export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** `apps/v1` Deployment. */
export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly strategy?: object;
  };
  readonly status?: WorkloadStatus & {
    readonly availableReplicas?: number;
    readonly updatedReplicas?: number;
  };
}

/** Status fields that workloads have in common. */
export interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly conditions?: readonly StatusCondition[];
}

/** `apps/v1` StatefulSet. */
export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    readonly persistentVolumeClaimRetentionPolicy?: object;
    readonly volumeClaimTemplates?: readonly Omit<PersistentVolumeClaim, "apiVersion" | "kind">[];
  };
  readonly status?: WorkloadStatus & {
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly updatedReplicas?: number;
  };
}

/** `apps/v1` DaemonSet. */
export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: object;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

/** `batch/v1` Job. */
export interface Job extends KubeObject {
  readonly spec?: {
    readonly template: PodTemplate;
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
  };
  readonly status?: {
    readonly active?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly StatusCondition[];
  };
}

/** `policy/v1` PodDisruptionBudget. */
export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
}

/** Where Deployments are served. */
export const deployments: Kind<Deployment> = namespaced<Deployment>("apps", "Deployment", "deployments");
/** Where StatefulSets are served. */
export const statefulSets: Kind<StatefulSet> = namespaced<StatefulSet>("apps", "StatefulSet", "statefulsets");
/** Where DaemonSets are served. */
export const daemonSets: Kind<DaemonSet> = namespaced<DaemonSet>("apps", "DaemonSet", "daemonsets");
/** Where Jobs are served. */
export const jobs: Kind<Job> = namespaced<Job>("batch", "Job", "jobs");
/** Where PodDisruptionBudgets are served. */
export const podDisruptionBudgets: Kind<PodDisruptionBudget> = namespaced<PodDisruptionBudget>(
  "policy",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);

function namespaced<O extends KubeObject>(group: string, kind: string, plural: string): Kind<O> {
  return defineKind<O>({ group, version: "v1", kind, plural, scope: "Namespaced" });
}
