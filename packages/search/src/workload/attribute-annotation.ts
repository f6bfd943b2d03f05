import type { JsonObject } from "@quartermaster/runtime";
import type { VolumeMount } from "@quartermaster/runtime/kinds";

import type { SearchCluster } from "../model/search-cluster.ts";

const attributesPath = "/attributes";
const volume = "node-attributes";

/** Annotation of a pod with the attribute that its machine gives it. */
export function attributeAnnotation(name: string): string {
  return `search.quartermaster.dev/attribute.${name}`;
}

/** The annotations as files: kubelet brings them up to date while `prepare` waits. */
export function attributeVolumes({ nodeAttributes = [] }: SearchCluster): readonly JsonObject[] {
  if (nodeAttributes.length === 0) return [];
  const items = nodeAttributes.map(({ name }) => ({
    path: name,
    fieldRef: { fieldPath: `metadata.annotations['${attributeAnnotation(name)}']` },
  }));
  return [{ name: volume, downwardAPI: { items } }];
}

/** Where `prepare` sees them. */
export function attributeMounts({ nodeAttributes = [] }: SearchCluster): readonly VolumeMount[] {
  return nodeAttributes.length === 0 ? [] : [{ name: volume, mountPath: attributesPath, readOnly: true }];
}

/** Arguments of `prepare`. */
export function attributeArguments({ nodeAttributes = [] }: SearchCluster): readonly string[] {
  return nodeAttributes.flatMap(({ name }) => ["attribute", `${attributesPath}/${name}`, name]);
}
