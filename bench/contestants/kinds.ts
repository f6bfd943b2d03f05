import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

/** The kind that all contestants manage; its definition is in bench/runtime/bed.ts. */
export interface Copy extends KubeObject {
  readonly spec: { readonly text: string; readonly load?: string };
}

/** A ConfigMap as far as contestants write it. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Copies of group bench.example.org. */
export const copies: Kind<Copy> = defineKind<Copy>({
  group: "bench.example.org",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
});

/** ConfigMaps. */
export const configMaps: Kind<ConfigMap> = defineKind<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});

/** Pods. */
export const pods: Kind = defineKind({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  scope: "Namespaced",
});
