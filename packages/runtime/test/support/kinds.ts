import { defineKind, type Kind } from "../../src/object/kind.ts";
import type { KubeObject } from "../../src/object/kube-object.ts";

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}

export interface Thing extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const core = { group: "", version: "v1" } as const;

export const namespaces: Kind = defineKind({
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
});
export const configMaps: Kind<ConfigMap> = defineKind<ConfigMap>({
  ...core,
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});
export const secrets: Kind<Secret> = defineKind<Secret>({
  ...core,
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
});
export const pods: Kind = defineKind({ ...core, kind: "Pod", plural: "pods", scope: "Namespaced" });
export const serviceAccounts: Kind = defineKind({
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  scope: "Namespaced",
});
export const customResourceDefinitions: Kind = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});
