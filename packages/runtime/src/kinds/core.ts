import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject, ObjectMeta } from "../object/kube-object.ts";

/** Text by key, as in labels and ConfigMaps. */
export type StringMap = Readonly<Record<string, string>>;

/** One condition of a status. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** `core/v1` ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: StringMap;
  /** Base64. */
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}

/** `core/v1` Secret. */
export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: StringMap;
  /** Plain text; written only, the server moves it to `data`. */
  readonly stringData?: StringMap;
  readonly immutable?: boolean;
}

/** `core/v1` ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
}

/** `core/v1` Namespace. */
export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/** `core/v1` Service. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: StringMap;
    readonly publishNotReadyAddresses?: boolean;
    readonly loadBalancerClass?: string;
    readonly loadBalancerSourceRanges?: readonly string[];
    readonly externalTrafficPolicy?: string;
    readonly ports?: readonly ServicePort[];
  };
}

/** A port of a Service. */
export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly protocol?: string;
}

/** A container of a pod, as far as controllers read and write it. Further fields pass through. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly {
    readonly name?: string;
    readonly containerPort: number;
    readonly protocol?: string;
  }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: { readonly requests?: StringMap; readonly limits?: StringMap };
  readonly securityContext?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly startupProbe?: object;
  readonly lifecycle?: object;
}

/** An environment variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

/** Where a container sees a volume. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

/** A volume of a pod; its source is one further field. */
export interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName?: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
  };
  readonly configMap?: {
    readonly name?: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
  };
  readonly emptyDir?: object;
  readonly projected?: { readonly defaultMode?: number; readonly sources?: readonly object[] };
  readonly csi?: {
    readonly driver: string;
    readonly readOnly?: boolean;
    readonly volumeAttributes?: StringMap;
  };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

/** A key of a Secret or ConfigMap, and the file it becomes. */
export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

/** Spec of a pod. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly nodeSelector?: StringMap;
  readonly affinity?: object;
  readonly tolerations?: readonly object[];
  readonly topologySpreadConstraints?: readonly object[];
  readonly securityContext?: object;
  readonly restartPolicy?: string;
  readonly hostNetwork?: boolean;
  readonly os?: { readonly name: string };
  readonly priorityClassName?: string;
  readonly terminationGracePeriodSeconds?: number;
}

/** A pod as workloads describe it. */
export interface PodTemplate {
  readonly metadata?: Partial<Pick<ObjectMeta, "labels" | "annotations">>;
  readonly spec: PodSpec;
}

/** `core/v1` Pod. */
export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly StatusCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** How a container of a pod is. */
export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerStateFacts;
  /** How it was before its last start. */
  readonly lastState?: ContainerStateFacts;
}

/** One of the three: it waits, runs or has ended. */
interface ContainerStateFacts {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
}

/** `core/v1` PersistentVolumeClaim. */
export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly resources?: { readonly requests?: StringMap };
  };
  readonly status?: { readonly phase?: string; readonly capacity?: StringMap };
}

/** `core/v1` Node. */
export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly object[] };
  readonly status?: { readonly conditions?: readonly StatusCondition[]; readonly allocatable?: StringMap };
}

/** Where ConfigMaps are served. */
export const configMaps: Kind<ConfigMap> = core<ConfigMap>("ConfigMap", "configmaps");
/** Where Secrets are served. */
export const secrets: Kind<Secret> = core<Secret>("Secret", "secrets");
/** Where ServiceAccounts are served. */
export const serviceAccounts: Kind<ServiceAccount> = core<ServiceAccount>(
  "ServiceAccount",
  "serviceaccounts",
);
/** Where Services are served. */
export const services: Kind<Service> = core<Service>("Service", "services");
/** Where Pods are served. */
export const pods: Kind<Pod> = core<Pod>("Pod", "pods");
/** Where PersistentVolumeClaims are served. */
export const persistentVolumeClaims: Kind<PersistentVolumeClaim> = core<PersistentVolumeClaim>(
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
/** Where Namespaces are served. */
export const namespaces: Kind<Namespace> = core<Namespace>("Namespace", "namespaces", "Cluster");
/** Where Nodes are served. */
export const nodes: Kind<Node> = core<Node>("Node", "nodes", "Cluster");

function core<O extends KubeObject>(
  kind: string,
  plural: string,
  scope: Kind["scope"] = "Namespaced",
): Kind<O> {
  return defineKind<O>({ group: "", version: "v1", kind, plural, scope });
}
